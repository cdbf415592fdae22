// Tenants spread over the machines of a PostgreSQL with Citus. `migrations/distribution.json` says how each table is
// spread:
//
// `tenant`: by tenant_id. A tenant's rows of all such tables are on one machine, so that its transactions stay there.
// `reference`: whole on every machine. For tables read far more often than written, and looked up without a tenant.
// `local`: on the coordinator alone. No statement joins such a table with another.
import { readFileSync } from 'node:fs'
import type { Db, Reads } from './db.ts'

type Distribution = 'tenant' | 'reference' | 'local'

/** The table whose shards decide where those of all others lie. */
export const ANCHOR = 'routing_versions'

export const readDistribution = (): Readonly<Record<string, Distribution>> =>
  JSON.parse(readFileSync(new URL('../../migrations/distribution.json', import.meta.url), 'utf8')) as Record<
    string,
    Distribution
  >

/** Whether the server has Citus, judged by its catalogue of distributed tables. Locks nothing. */
export const hasCitus = async (db: Reads): Promise<boolean> =>
  (await db.rows(db.dialect.hasTable, ['pg_dist_partition'])).length > 0

/** The tables of this store that Citus has distributed in any way. Locks nothing. */
async function distributedTables(db: Reads): Promise<Set<string>> {
  const rows = await db.rows<{ name: string }>(
    `select c.relname as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      where c.relnamespace = (select oid from pg_namespace where nspname = current_schema())`,
  )
  return new Set(rows.map(({ name }) => name))
}

/** Whether this store's tenants are spread over shards. */
export const isDistributed = async (db: Reads): Promise<boolean> =>
  (await hasCitus(db)) && (await distributedTables(db)).has(ANCHOR)

/** Returns which of the named tables exist. Locks nothing. */
async function tablesThere(db: Reads, names: string[]): Promise<Set<string>> {
  const rows = await db.rows<{ name: string }>(
    `select relname as name from pg_class where relnamespace = (select oid from pg_namespace where nspname = current_schema()) and ${db.dialect.inList('relname')}`,
    [db.dialect.list(names)],
  )
  return new Set(rows.map(({ name }) => name))
}

/**
 * Distributes the declared tables that are not distributed yet, with their rows, and returns their names. Citus locks
 * each of them against everybody else until the transaction ends. `shards` counts the first time only: later tables
 * follow it.
 */
export async function distributeTables(tx: Db, shards?: number): Promise<string[]> {
  const declared = Object.entries(readDistribution()).filter(([, how]) => how !== 'local')
  const there = await tablesThere(
    tx,
    declared.map(([name]) => name),
  )
  const done = await distributedTables(tx)
  const wanted = declared.filter(([name]) => there.has(name) && !done.has(name))
  // One connection to each machine: a reference table that changed must be visible to the statements after it.
  await tx.run("set local citus.multi_shard_modify_mode = 'sequential'")
  const rank = ([name, how]: [string, Distribution]): number => (how === 'reference' ? 0 : name === ANCHOR ? 1 : 2)
  for (const [name, how] of wanted.sort((a, b) => rank(a) - rank(b))) {
    if (how === 'reference') await tx.rows('select create_reference_table(cast(? as regclass))', [name])
    else if (name === ANCHOR)
      await tx.rows(
        "select create_distributed_table(cast(? as regclass), 'tenant_id', colocate_with => 'none', shard_count => cast(? as integer))",
        [name, shards ?? 32],
      )
    else
      await tx.rows("select create_distributed_table(cast(? as regclass), 'tenant_id', colocate_with => ?)", [
        name,
        ANCHOR,
      ])
  }
  return wanted.map(([name]) => name)
}
