-- What each node counted of a tenant in a minute, for charts. Kept for a day. A minute is a number: milliseconds since the epoch, divided
-- by 60000.
create table activity_minutes (
  tenant_id text not null,
  minute bigint not null,
  node text not null,
  events bigint not null,
  deliveries bigint not null,
  acknowledgements bigint not null,
  failures bigint not null,
  dead_letters bigint not null,
  primary key (tenant_id, minute, node)
) /* sqlite: without rowid */ /* postgres: with (fillfactor = 70) */;

create index activity_minutes_by_age on activity_minutes (minute);

-- Whether the lease before this one ran out, rather than being given back: 0 or 1.
alter table deliveries add column lapsed integer not null default 0;
