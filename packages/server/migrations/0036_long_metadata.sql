-- Metadata that is too long for the row of its memory, in parts (memory/long-metadata.ts). memories.metadata_id names it; `metadata` is then
-- '{}', and metadata_bytes says how long it is. A version names what a change replaced.
create table long_metadata (
  tenant_id text not null,
  id text not null,
  part bigint not null,
  text text not null,
  primary key (tenant_id, id, part)
);

-- Long metadata that no memory and no version names: it is being written, or waits to be deleted. memory_id is the memory whose version named
-- it last, if one did. since is 0 once its deletion has begun.
create table unnamed_metadata (
  tenant_id text not null,
  id text not null,
  memory_id text,
  bytes bigint not null,
  since bigint not null,
  primary key (tenant_id, id)
);
create index unnamed_metadata_by_age on unnamed_metadata (since);

alter table memories add column metadata_id text;
alter table memories add column metadata_bytes bigint;
alter table memory_versions add column metadata_id text;
alter table memory_versions add column metadata_bytes bigint;
