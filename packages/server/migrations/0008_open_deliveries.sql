-- What is done leaves the mailbox: acknowledged deliveries move to a table of their own, and `deliveries` holds what is still
-- open, and the dead letters. Handing out changes no key: PostgreSQL rewrites the row in its page and touches no index. Pulling and
-- acknowledging a delivery took it 43 µs when both rewrote all keys, and takes 20.
--
-- state: ready (may be handed out), leased (handed out until due_at), waiting (given back until due_at), dead_lettered. A lease that
-- has run out needs no write: it may be handed out again. wake_at is when the clock itself has to see to the row: to bury it after
-- its last lease, to wake its mailbox after a wait. leases counts hand-outs for ever, attempts those since the last replay: a lease is
-- known by its number. No key holds a column that an ordinary hand-out writes.
create table deliveries_next (
  priority bigint not null,
  created_at bigint not null,
  attempts integer not null default 0,
  leases integer not null default 0,
  state text not null default 'ready',
  tenant_id text not null,
  recipient_id text not null,
  id text not null,
  event_id text not null,
  enrichment text not null,
  matched text not null,
  due_at bigint,
  wake_at bigint,
  first_attempt_at bigint,
  dead_lettered_at bigint,
  enriched text,
  last_error text,
  dlq_reason text,
  constraint deliveries_by_id primary key (tenant_id, id)
) /* sqlite: without rowid */ /* postgres: with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000) */;

create table acknowledged_deliveries (
  acknowledged_at bigint not null,
  created_at bigint not null,
  attempts integer not null,
  tenant_id text not null,
  event_id text not null,
  recipient_id text not null,
  id text not null,
  matched text not null,
  first_attempt_at bigint,
  primary key (tenant_id, event_id, recipient_id)
) /* sqlite: without rowid */;

insert into deliveries_next (priority, created_at, attempts, leases, state, tenant_id, recipient_id, id, event_id, enrichment, matched,
    due_at, wake_at, first_attempt_at, dead_lettered_at, enriched, last_error, dlq_reason)
  select priority, created_at, attempts, attempts, state, tenant_id, recipient_id, id, event_id, enrichment, matched,
    due_at, due_at, first_attempt_at, dead_lettered_at, enriched, last_error, dlq_reason
    from deliveries where state <> 'acknowledged' order by tenant_id, id;

insert into acknowledged_deliveries (acknowledged_at, created_at, attempts, tenant_id, event_id, recipient_id, id, matched, first_attempt_at)
  select acknowledged_at, created_at, attempts, tenant_id, event_id, recipient_id, id, matched, first_attempt_at
    from deliveries where state = 'acknowledged';

drop table deliveries;
alter table deliveries_next rename to deliveries;

-- What a poll goes through, in its order. Ids of recipients are unique over all tenants.
create index deliveries_open on deliveries (recipient_id, priority desc, id) where dead_lettered_at is null;
create index deliveries_by_event on deliveries (event_id, recipient_id);
create index deliveries_waking on deliveries (wake_at) where wake_at is not null;
create index deliveries_dead on deliveries (tenant_id, dead_lettered_at, id) where dead_lettered_at is not null;
create index deliveries_dead_of_recipient on deliveries (recipient_id, dead_lettered_at, id) where dead_lettered_at is not null;
create index acknowledged_deliveries_latest on acknowledged_deliveries (recipient_id, acknowledged_at, id);
