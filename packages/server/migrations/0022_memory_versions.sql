-- What the changes of a memory replaced, newest hundred: a row for the change that made a version, from the second on, with the values
-- of before for what it changed. Long texts have a column each, null where they stayed; rest is a JSON object of the others. bytes is
-- what the row takes. A memory that never changed has none.
create table memory_versions (
  tenant_id text not null,
  memory_id text not null,
  version bigint not null,
  changed_at bigint not null,
  changed_by text not null,
  bytes bigint not null,
  rest text not null,
  title text,
  content text,
  metadata text,
  primary key (tenant_id, memory_id, version)
);
