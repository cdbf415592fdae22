-- Which memory of an owner an imported line became: by the id that the line had, or by a hash of what it said. The same line again finds it.
create table memory_imports (
  tenant_id text not null,
  agent_id text not null,
  origin text not null,
  memory_id text not null,
  primary key (tenant_id, agent_id, origin)
);
create index memory_imports_by_memory on memory_imports (tenant_id, memory_id);
