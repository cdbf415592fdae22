-- Memories whose time has come are looked for by tenant, so that tenants take turns.
create index memories_expiring_of_tenant on memories (tenant_id, expires_at) where status = 'active' and expires_at is not null;
drop index memories_expiring;
