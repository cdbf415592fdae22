-- Who changed what in a tenant. Every such change writes its line in its own transaction.
create table audit_entries (
  tenant_id text not null,
  at bigint not null,
  id text not null,
  actor text not null,
  action text not null,
  resource text,
  request_id text,
  details text not null,
  primary key (tenant_id, at, id)
) /* sqlite: without rowid */;

create index audit_entries_by_actor on audit_entries (tenant_id, actor, at, id);
create index audit_entries_by_action on audit_entries (tenant_id, action, at, id);
create index audit_entries_by_age on audit_entries (at);
