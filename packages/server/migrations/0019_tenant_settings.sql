-- What the operator set for a tenant: JSON, null or missing is the default. Versions count over all tenants, so that a node
-- finds what changed by reading what is newer than the last it saw.
create table tenant_settings (
  tenant_id text primary key,
  settings text not null,
  version bigint not null
);

create index tenant_settings_by_version on tenant_settings (version);

-- What is stored at the moment is counted like usage, under no day.
insert into usage_days (tenant_id, day, metric, shard, amount)
  select tenant_id, '', 'stored_bytes', 0, sum(octet_length(envelope)) from events where envelope is not null group by tenant_id;

insert into usage_days (tenant_id, day, metric, shard, amount)
  select tenant_id, '', 'stored_bytes', 1, sum(octet_length(title) + octet_length(content) + octet_length(metadata)) from memories group by tenant_id;

-- Retention forgets ids tenant by tenant: each may have its own.
drop index events_purged;
create index events_purged on events (tenant_id, purged_at) where purged_at is not null;
