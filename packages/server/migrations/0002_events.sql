-- Events, who cares about them, and one delivery per event and recipient.

-- The envelope is the JSON text as it came in; after retention it is emptied and the row stays a while longer, so that a late
-- duplicate is still recognised. causation_id names the event that it says caused it.
create table events (
  tenant_id text not null,
  id text not null,
  type text not null,
  source text not null,
  subject text,
  sender_id text not null,
  envelope text,
  causation_id text,
  received_at bigint not null,
  purged_at bigint,
  primary key (tenant_id, id)
);

create index events_by_age on events (tenant_id, received_at, id) where purged_at is null;
create index events_purged on events (purged_at) where purged_at is not null;

-- state: ready (may be handed out), leased (handed out until due_at), waiting (given back until due_at), acknowledged,
-- dead_lettered. attempts counts the times it was handed out. matched names what made it: interests and feeds, by id.
create table deliveries (
  tenant_id text not null,
  recipient_id text not null,
  id text not null,
  event_id text not null,
  state text not null,
  priority bigint not null,
  enrichment text not null,
  enriched text,
  matched text not null,
  attempts integer not null,
  due_at bigint,
  first_attempt_at bigint,
  last_error text,
  created_at bigint not null,
  acknowledged_at bigint,
  dead_lettered_at bigint,
  dlq_reason text,
  primary key (tenant_id, id),
  unique (tenant_id, event_id, recipient_id)
) /* sqlite: without rowid */;

-- What a poll hands out next, in its order; only that.
create index deliveries_ready on deliveries (tenant_id, recipient_id, priority desc, id) where state = 'ready';
-- What becomes due by the clock: leases that lapse, deliveries given back for later.
create index deliveries_timed on deliveries (tenant_id, recipient_id, due_at) where due_at is not null;
create index deliveries_lapsing on deliveries (due_at) where due_at is not null;
create index deliveries_acknowledged on deliveries (tenant_id, recipient_id, acknowledged_at, id) where state = 'acknowledged';
create index deliveries_dead on deliveries (tenant_id, dead_lettered_at, id) where state = 'dead_lettered';
create index deliveries_dead_of_recipient on deliveries (tenant_id, recipient_id, dead_lettered_at, id) where state = 'dead_lettered';

create table mailboxes (
  tenant_id text not null,
  recipient_id text not null,
  last_poll_at bigint not null,
  primary key (tenant_id, recipient_id)
);

-- conflict_key is a hash of event_type and filter: one agent has the same interest once.
create table interests (
  tenant_id text not null,
  id text not null,
  agent_id text not null,
  event_type text not null,
  filter_expression text,
  conflict_key text not null,
  priority bigint not null,
  enrichment_depth text not null,
  active integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (tenant_id, id),
  unique (tenant_id, agent_id, conflict_key)
);

create table channels (
  tenant_id text not null,
  id text not null,
  name text not null,
  description text,
  type text not null,
  created_by_type text not null,
  created_by_id text not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (tenant_id, id)
);

-- What every agent sees, in the order of a list.
create index channels_open on channels (tenant_id, id) where type = 'open';

create table channel_members (
  tenant_id text not null,
  channel_id text not null,
  id text not null,
  participant_type text not null,
  participant_id text not null,
  role text not null,
  joined_at bigint not null,
  primary key (tenant_id, channel_id, id),
  unique (tenant_id, channel_id, participant_type, participant_id)
);

create index channel_members_by_participant on channel_members (tenant_id, participant_id, channel_id);

create table channel_feeds (
  tenant_id text not null,
  channel_id text not null,
  id text not null,
  event_type_glob text not null,
  filter_expression text,
  active integer not null,
  created_at bigint not null,
  primary key (tenant_id, channel_id, id)
);

-- Every change of who receives what moves the tenant's version and leaves a line, so that each node can bring its routing table
-- up to date by reading what changed instead of everything.
create table routing_versions (
  tenant_id text primary key,
  version bigint not null
);

create table routing_changes (
  tenant_id text not null,
  version bigint not null,
  kind text not null,
  id text not null,
  changed_at bigint not null,
  primary key (tenant_id, version)
);

create index routing_changes_by_age on routing_changes (changed_at);
