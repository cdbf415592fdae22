// PostgreSQL plans a prepared statement once, by the statistics that it has of the tables at that time. Of a new store
// it has none, so any index looks as good as another, and it gathers them by itself only once a minute: until then a
// claim may walk through all deliveries of a tenant. So while tables are small, this gathers statistics whenever half
// of a table has changed.
import type { Store } from './db.ts'

/** Above this many rows, the server's own rounds are enough. */
const LARGE = 200_000
const WORTH_IT = 200

/** Gathers statistics where they are due, and returns the names of those tables. */
export async function gatherStatistics(store: Store): Promise<string[]> {
  if (store.dialect.engine !== 'postgres') return []
  const changed = await store.rows<{ name: string }>(
    `select relname as name from pg_stat_user_tables
      where schemaname = current_schema() and n_mod_since_analyze > ? and n_mod_since_analyze > n_live_tup / 2 and n_live_tup < ?`,
    [WORTH_IT, LARGE],
  )
  const names = changed.map(({ name }) => name).filter((name) => /^[a-z_]+$/.test(name))
  // A table that somebody else is analysing is skipped: it gets its statistics from them.
  for (const name of names) await store.tx((tx) => tx.run(`analyze (skip_locked) ${name}`))
  return names
}
