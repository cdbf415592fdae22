-- What changed, for the thread that keeps what a search reads in memory: on PostgreSQL with the transaction that changed it, which
-- tells whether a reader has seen it. The embedded store has such a log since 0004. Rows are kept for an hour.
/* postgres: create table memory_changes (tenant_id text not null, memory_id text not null, changed_by xid8 not null, changed_at bigint not null, primary key (tenant_id, changed_by, memory_id)) */;
/* postgres: create index memory_changes_by_age on memory_changes (changed_at) */;
