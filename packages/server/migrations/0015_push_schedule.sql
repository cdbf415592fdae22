-- An agent may have a push schedule of its own: the waits after failed pushes, a JSON array of seconds.
alter table agents add column retry_schedule text;

-- What the clock has to see to in one tenant.
create index deliveries_waking_of_tenant on deliveries (tenant_id, wake_at) where wake_at is not null;
