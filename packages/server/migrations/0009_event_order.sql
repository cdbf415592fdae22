-- The order in which events came: those of one batch share their millisecond, and their ids, which are the sender's, say nothing.
alter table events add column place integer not null default 0;
drop index events_by_age;
create index events_by_age on events (tenant_id, received_at, place, id) where purged_at is null;
