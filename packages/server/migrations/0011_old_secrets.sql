-- A webhook rotated twice within a day has two secrets from before that still hold: a list, as JSON, of each with its end.
alter table webhooks add column old_secrets text not null default '[]';
update webhooks set old_secrets = '[{"sealed":"' || previous_secret || '","until":' || previous_until || '}]' where previous_secret is not null;
alter table webhooks drop column previous_secret;
alter table webhooks drop column previous_until;
