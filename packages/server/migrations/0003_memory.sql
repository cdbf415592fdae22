-- Memories, the relationships between them, and the index that finds a substring.

-- status: active, deleted, expired. A memory past expires_at is gone whatever its status says; the sweep only tidies up.
-- team_id is set where scope is team and null otherwise. text_version moves with title and content: what was made of an older
-- version is stale. The columns that decide who sees a memory come first, so that reading them touches no long text.
create table memories (
  tenant_id text not null,
  id text not null,
  agent_id text not null,
  team_id text,
  scope text not null,
  status text not null,
  type text not null,
  expires_at bigint,
  confidence double precision not null,
  importance double precision not null,
  project_id text,
  source_type text,
  source_id text,
  source_url text,
  source_event_id text,
  freshness_date bigint,
  created_at bigint not null,
  updated_at bigint not null,
  accessed_at bigint not null,
  text_version bigint not null,
  title text not null,
  content text not null,
  metadata text not null,
  primary key (tenant_id, id)
);

-- One index for each way to see a memory, in the order of a list, with all that a list filters by: a count reads no row.
create index memories_live on memories (tenant_id, id, type, scope, expires_at) where status = 'active';
create index memories_owned on memories (tenant_id, agent_id, id, type, scope, expires_at) where status = 'active';
create index memories_of_team on memories (tenant_id, team_id, id, agent_id, type, expires_at) where status = 'active' and scope = 'team';
create index memories_institutional on memories (tenant_id, id, agent_id, type, expires_at) where status = 'active' and scope = 'institutional';
create index memories_expiring on memories (expires_at) where status = 'active' and expires_at is not null;

-- The text of a live memory with its case folded, in which a substring is looked for, and its grams: hashes of every one, two
-- and three characters that follow each other, and of who may see it. PostgreSQL indexes them as an array. SQLite has no such
-- index; there they are the words of a full-text table that keeps no text, whose rows are numbered by doc.
create table memory_texts (
  /* sqlite: doc integer primary key, */
  tenant_id text not null,
  id text not null,
  title text not null,
  content text not null,
  /* sqlite: unique (tenant_id, id) */ /* postgres: grams integer[] not null, primary key (tenant_id, id) */
);

/* postgres: create index memory_texts_by_gram on memory_texts using gin (grams) */;
-- In the row and not beside it: the planner counts only the pages of rows, and would read 5,000 arrays (110 ms) for want of an
-- index that looks cheaper (1 ms).
/* postgres: alter table memory_texts alter column grams set storage main */;
/* sqlite: create virtual table memory_grams using fts5 (grams, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii') */;

create table memory_relationships (
  tenant_id text not null,
  id text not null,
  source_memory_id text not null,
  target_memory_id text not null,
  relationship_type text not null,
  strength double precision not null,
  metadata text,
  created_by text not null,
  created_at bigint not null,
  primary key (tenant_id, id),
  unique (tenant_id, source_memory_id, target_memory_id, relationship_type)
);

-- All that a traversal reads of a relationship on its way, in both directions: it reads many and shows few.
create index memory_relationships_out on memory_relationships (tenant_id, source_memory_id, target_memory_id, strength, id);
create index memory_relationships_in on memory_relationships (tenant_id, target_memory_id, source_memory_id, strength, id);
