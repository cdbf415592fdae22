-- A paused agent is handed nothing: 0 or 1. Few are, so to ask costs a look into an index that is nearly empty.
alter table agents add column paused integer not null default 0;
create index agents_paused on agents (tenant_id, id) where paused = 1;

-- How often events of a type were accepted on a day, and when last. A day is a number: milliseconds since the epoch, divided by 86400000.
create table event_types (
  tenant_id text not null,
  type text not null,
  day bigint not null,
  count bigint not null,
  last_at bigint not null,
  primary key (tenant_id, type, day)
) /* sqlite: without rowid */;

insert into event_types (tenant_id, type, day, count, last_at)
  select tenant_id, type, received_at / 86400000, count(*), max(received_at) from events where purged_at is null
   group by tenant_id, type, received_at / 86400000;
