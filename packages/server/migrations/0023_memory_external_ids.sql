-- The name that a memory has in somebody else's system, once for its owner. What is deleted or expired gives its name back.
alter table memories add column external_id text;
create unique index memories_by_external_id on memories (tenant_id, agent_id, external_id) where external_id is not null and status = 'active';
