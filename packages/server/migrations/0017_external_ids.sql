-- The name that a thing has in somebody else's system, once in a tenant for agents and once for channels.
alter table agents add column external_id text;
create unique index agents_by_external_id on agents (tenant_id, external_id) where external_id is not null;
alter table channels add column external_id text;
create unique index channels_by_external_id on channels (tenant_id, external_id) where external_id is not null;
