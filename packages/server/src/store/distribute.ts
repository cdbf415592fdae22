// Spreads the tenants of a store over the machines of a PostgreSQL with Citus.
import { ruleBroken } from '../kernel/failure.ts'
import type { Db, Store } from './db.ts'
import { distributeTables, hasCitus } from './distribution.ts'
import { MIGRATING } from './migrate.ts'

interface Distributed {
  /** The tables that were distributed now. */
  tables: string[]
  /** The errors of workers that refused the settings which a session cannot bring there; empty if none did. */
  refused: string[]
}

/**
 * Distributes the tables that are not distributed yet. Throws if the store cannot be sharded, and says what is missing.
 */
export async function distribute(store: Store, shards?: number): Promise<Distributed> {
  if (!store.isShared)
    throw ruleBroken('not_shardable', 'The embedded store is one file: set DATABASE_URL to a PostgreSQL with Citus')
  if (!(await hasCitus(store))) throw ruleBroken('not_shardable', await whatIsMissing(store))
  const distributeAll = async (tx: Db): Promise<string[]> => {
    await tx.lock([MIGRATING], 'exclusive')
    return distributeTables(tx, shards)
  }
  // Every row of a table goes to its shard, which may take long.
  const tables = await store.tx(distributeAll, { takesLong: true })
  await store.refreshCapabilities()
  return { tables, refused: await tellWorkers(store) }
}

// Asks whether the server could have Citus. Locks nothing.
async function whatIsMissing(store: Store): Promise<string> {
  const there = await store.rows("select 1 as there from pg_available_extensions where name = 'citus'")
  return there.length > 0
    ? 'Citus is installed and not part of this database: put citus into shared_preload_libraries, restart the server, and run `create extension citus` in this database on the coordinator and on each worker'
    : 'This PostgreSQL has no Citus: install it on this server and on those that are to be its workers, put citus into shared_preload_libraries, and run `create extension citus` in this database on each of them'
}

// What a session sets for itself (store/postgres-wire.ts) stays on the coordinator, so workers get it from their
// database. It applies to connections that are opened from then on.
async function tellWorkers(store: Store): Promise<string[]> {
  const answers = await store.tx((tx) =>
    tx.rows<{ nodename: string; nodeport: number; success: boolean; result: string }>(
      "select * from run_command_on_workers(format('alter database %I set enable_seqscan = off', current_database()))",
    ),
  )
  return answers
    .filter(({ success }) => !success)
    .map(({ nodename, nodeport, result }) => `${nodename}:${nodeport}: ${result}`)
}
