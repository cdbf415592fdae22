-- Tenants, principals, keys, and what every request needs. Times are milliseconds since the epoch, JSON is text, flags are 0 or 1.
-- Every table that belongs to a tenant leads its primary key with tenant_id, and every query names it, so that the data can be
-- spread over machines by tenant.

create table settings (
  name text primary key,
  value text not null
);

create table tenants (
  tenant_id text primary key,
  slug text not null unique,
  name text not null,
  created_at bigint not null
);

create table org_admins (
  tenant_id text not null,
  id text not null,
  created_at bigint not null,
  primary key (tenant_id, id)
);

create table agents (
  tenant_id text not null,
  id text not null,
  name text not null,
  description text,
  status text not null,
  delivery_mode text not null,
  delivery_endpoint text,
  client_type text not null,
  team_id text,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (tenant_id, id)
);

create index agents_by_status on agents (tenant_id, status, id);

-- owner_type is agent or org_admin. The hash is keyed: without the master secret it finds nothing.
create table api_keys (
  tenant_id text not null,
  id text not null,
  owner_type text not null,
  owner_id text not null,
  hash text not null unique,
  prefix text not null,
  scopes text not null,
  expires_at bigint,
  created_at bigint not null,
  last_used_at bigint,
  revoked_at bigint,
  primary key (tenant_id, id)
);

create index api_keys_by_owner on api_keys (tenant_id, owner_id, id);

-- The first answer to a request that carried an Idempotency-Key. tenant_id is empty for the operator's requests.
create table idempotency (
  tenant_id text not null,
  principal_id text not null,
  method text not null,
  path text not null,
  idempotency_key text not null,
  body_hash text not null,
  status integer not null,
  body text not null,
  sealed integer not null,
  resource_id text,
  created_at bigint not null,
  primary key (tenant_id, principal_id, method, path, idempotency_key)
);

create index idempotency_by_age on idempotency (created_at);

-- What metering counts. Several writers of one node or of many would queue for one row per day, so each adds to a shard.
create table usage_days (
  tenant_id text not null,
  day text not null,
  metric text not null,
  shard integer not null,
  amount bigint not null,
  primary key (tenant_id, day, metric, shard)
);

-- Requests by slice of a sliding window, when several nodes share one limit. tenant_id is empty for client addresses.
create table rate_windows (
  tenant_id text not null,
  subject text not null,
  slot bigint not null,
  used bigint not null,
  expires_at bigint not null,
  primary key (tenant_id, subject, slot)
);

create index rate_windows_by_age on rate_windows (expires_at);
