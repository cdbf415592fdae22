-- Memories to embed are looked for by what they were embedded with, then by tenant: from the memories of one tenant to the next is
-- a single step. Without claimed_until, so that a claim writes no index.
create index memory_recall_left on memory_recall (embedded, tenant_id);
drop index memory_recall_to_embed;

-- One index for each way to see a memory, as in 0003, with the project and the time of creation, by which lists and searches are
-- filtered too. Without them in the index, SQLite reads every row of the tenant by its key.
drop index memories_live;
drop index memories_owned;
drop index memories_of_team;
drop index memories_institutional;
drop index memories_gone;
create index memories_live on memories (tenant_id, id, type, scope, expires_at, project_id, created_at) where status = 'active';
create index memories_owned on memories (tenant_id, agent_id, id, type, scope, expires_at, project_id, created_at) where status = 'active';
create index memories_of_team on memories (tenant_id, team_id, id, agent_id, type, expires_at, project_id, created_at) where status = 'active' and scope = 'team';
create index memories_institutional on memories (tenant_id, id, agent_id, type, expires_at, project_id, created_at) where status = 'active' and scope = 'institutional';
-- The same for what was deleted or has expired: of the whole tenant, and of one owner.
create index memories_gone on memories (tenant_id, status, id, type, scope, project_id, created_at) where status <> 'active';
create index memories_gone_owned on memories (tenant_id, agent_id, status, id, type, scope, project_id, created_at) where status <> 'active';

-- The facts that 0020 made of older metadata were wrong where it escapes characters, and on PostgreSQL missing where it contains
-- "ud", because the backslash in a pattern of 0020 was the escape of LIKE. The background run that cuts words by the present rules
-- writes facts again too, so such memories are marked for it.
update memory_recall set word_rules = 0
 where exists (select 1 from memories m
    where m.tenant_id = memory_recall.tenant_id and m.id = memory_recall.memory_id and m.status = 'active'
      and m.created_at <= (select applied_at from schema_migrations where version = 20)
      and octet_length(m.metadata) between 3 and 65536
      and (m.metadata like '%ud%' or m.metadata like '%u0000%' or m.metadata like '%\%' escape '!'));

-- When an import changed a relationship, for exports of what has changed since a time. Null if none did.
alter table memory_relationships add column changed_at bigint;
