-- Who embeds a memory, and when it is tried again, are two things: a claim lasts seconds and is renewed, so that one that lies
-- further ahead was made by a clock that has been set back since, and holds nobody up.
alter table memory_recall add column retry_at bigint not null default 0;
update memory_recall set claimed_until = 0 where claimed_until > 0;

-- What was deleted or has expired, for those who ask for it.
create index memories_gone on memories (tenant_id, agent_id, id) where status <> 'active';

-- Scalars of a memory's metadata by which a search may be filtered: name and value as JSON text.
create table memory_facts (
  tenant_id text not null,
  name text not null,
  value text not null,
  memory_id text not null,
  primary key (tenant_id, name, value, memory_id)
);
create index memory_facts_by_memory on memory_facts (tenant_id, memory_id);
-- Of what was stored before; texts that escape characters which PostgreSQL does not unescape wait for their next change.
/* sqlite: insert into memory_facts (tenant_id, name, value, memory_id) select m.tenant_id, json_quote(j.key), case j.type when 'text' then json_quote(j.value) when 'true' then 'true' when 'false' then 'false' when 'null' then 'null' else json_quote(j.value) end, m.id from memories m, json_each(m.metadata) j where m.status = 'active' and octet_length(m.metadata) between 3 and 65536 and j.type not in ('object', 'array') and length(j.key) <= 128 and length(j.value) <= 256 on conflict do nothing */;
/* postgres: insert into memory_facts (tenant_id, name, value, memory_id) select m.tenant_id, to_json(j.key)::text, j.value::text, m.id from memories m, json_each(m.metadata::json) j where m.status = 'active' and octet_length(m.metadata) between 3 and 65536 and m.metadata not like '%\u0000%' and m.metadata not like '%\ud%' and json_typeof(j.value) not in ('object', 'array') and length(j.key) <= 128 and length(j.value::text) <= 258 on conflict do nothing */;
