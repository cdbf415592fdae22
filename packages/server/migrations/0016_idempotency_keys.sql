-- A response that shows a secret is replayed to the API key that asked for it and to no other of the same principal. Rows
-- from before name none: their secrets are shown to nobody again, and they are gone after a day.
alter table idempotency add column key_id text;
