// Citus cannot be installed with npm. This stands in for the few parts of it that the product calls: functions that
// spread a table over partitions by a hash of its column, and the catalogue of distributed tables. Statements then meet
// shards that PostgreSQL itself prunes by the value of tenant_id, as Citus does. What only a cluster has, such as
// two-phase commits and lost machines, needs a real one: CITUS_URL in test/store/sharded.test.ts.
import pg from 'pg'

/** Shards for each table, whatever number is requested: enough for a tenant not to be in all of them. */
const SHARDS = 4

const STAND_IN = `
  create view pg_dist_partition as
    select cast(partrelid as regclass) as logicalrelid, 'h' as partmethod from pg_partitioned_table
    union all
    select cast(objoid as regclass), 'n' from pg_description where description = 'a reference table';

  create function create_reference_table(named regclass) returns void language plpgsql as $$
  begin
    execute format('comment on table %s is %L', named, 'a reference table');
  end $$;

  create function create_distributed_table(named regclass, by_column text, colocate_with text, shard_count integer default null)
  returns void language plpgsql as $$
  declare
    name text := cast(named as text);
    whole text := name || '_whole';
  begin
    if colocate_with <> 'none' and not exists (select 1 from pg_dist_partition where logicalrelid = to_regclass(colocate_with)) then
      raise exception 'relation % is not distributed', colocate_with;
    end if;
    execute format('alter table %I rename to %I', name, whole);
    execute format('create table %I (like %I including all) partition by hash (%I)', name, whole, by_column);
    for i in 0 .. ${SHARDS - 1} loop
      execute format('create table %I partition of %I for values with (modulus ${SHARDS}, remainder %s)', name || '_shard_' || i, name, i);
    end loop;
    execute format('insert into %I select * from %I', name, whole);
    execute format('drop table %I', whole);
  end $$;

  create function run_command_on_workers(command text)
  returns table (nodename text, nodeport integer, success boolean, result text) language plpgsql as $$
  begin
    execute command;
    return query select 'localhost', 5432, true, 'ALTER DATABASE';
  end $$;
`

/** Makes a database look as if it had Citus. */
export async function standInForCitus(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(STAND_IN)
  } finally {
    await client.end()
  }
}
