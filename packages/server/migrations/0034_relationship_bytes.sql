-- Relationships count toward the stored bytes of their tenant: 300 for each, and its metadata (memory/stored-bytes.ts).
insert into usage_days (tenant_id, day, metric, shard, amount)
  select tenant_id, '', 'stored_bytes', 0, sum(300 + octet_length(coalesce(metadata, ''))) from memory_relationships where true group by tenant_id
  on conflict (tenant_id, day, metric, shard) do update set amount = usage_days.amount + excluded.amount;
