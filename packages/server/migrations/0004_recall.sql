-- What memories are found by: their words, and the vectors of their meaning.

-- The state of the index for each memory. length is what BM25 compares; version counts the texts it has had, so that a vector of
-- an older text is never kept; embedded names the model whose vectors are stored, empty while the meaning waits to be embedded;
-- claimed_until keeps two embedders from doing the same work. doc is the number the embedded full-text index knows it by.
create table memory_recall (
  /* sqlite: doc integer primary key, */
  tenant_id text not null,
  memory_id text not null,
  length integer not null,
  version bigint not null,
  embedded text not null,
  claimed_until bigint not null,
  /* sqlite: unique (tenant_id, memory_id) */ /* postgres: primary key (tenant_id, memory_id) */
);

-- Empty sorts first: what was never embedded is embedded before what another model did. Without claimed_until, so that a claim
-- writes no index.
create index memory_recall_to_embed on memory_recall (embedded);

-- The words. Embedded, FTS5 holds only its index, 120 bytes for a short memory, and its vocabulary tells how often a word is where;
-- the words are cut and stemmed before they get here. On PostgreSQL a row for each word of a memory.
/* sqlite: create virtual table memory_words using fts5(title, content, content='', contentless_delete=1, tokenize="ascii tokenchars '_'") */;
/* sqlite: create virtual table memory_word_places using fts5vocab(memory_words, 'instance') */;
/* postgres: create table memory_words (tenant_id text not null, word text not null, memory_id text not null, frequency integer not null, length integer not null, primary key (tenant_id, word, memory_id) include (frequency, length)) */;
/* postgres: create index memory_words_by_memory on memory_words (tenant_id, memory_id) */;

-- One row for each window of the text: signature is the signs of the vector's numbers, a bit each; vector 32-bit floats of length 1;
-- tokens 64 signed bytes for each token that carries meaning.
create table memory_vectors (
  tenant_id text not null,
  memory_id text not null,
  part integer not null,
  model text not null,
  text_version bigint not null,
  signature /* sqlite: blob */ /* postgres: bit varying */ not null,
  vector bytea not null,
  tokens bytea not null,
  primary key (tenant_id, memory_id, part)
);

/* sqlite: create index memory_vectors_signatures on memory_vectors (tenant_id, model, memory_id, part, signature) */;

-- What changed, for the thread that keeps what a search reads in memory (embedded store only).
/* sqlite: create table memory_changes (seq integer primary key autoincrement, tenant_id text not null, memory_id text not null) */;
/* sqlite: create index memory_changes_by_tenant on memory_changes (tenant_id, seq) */;
/* sqlite: create trigger memory_changed after update of agent_id, team_id, scope, type, status, confidence, importance, freshness_date, expires_at, updated_at on memories begin insert into memory_changes (tenant_id, memory_id) values (new.tenant_id, new.id); end */;
/* sqlite: create trigger memory_recall_added after insert on memory_recall begin insert into memory_changes (tenant_id, memory_id) values (new.tenant_id, new.memory_id); end */;
/* sqlite: create trigger memory_recall_changed after update of version, embedded on memory_recall begin insert into memory_changes (tenant_id, memory_id) values (new.tenant_id, new.memory_id); end */;
/* sqlite: create trigger memory_recall_removed after delete on memory_recall begin insert into memory_changes (tenant_id, memory_id) values (old.tenant_id, old.memory_id); end */;
