// PostgreSQL plans a prepared statement once, by what it knows of the tables at that time. Of a new store it knows
// nothing, any index looks as good as another, and its own gathering of statistics comes by once a minute: until then a
// claim may walk through all deliveries of a tenant. So while tables are small, this gathers them whenever a table has
// grown by half.
import type { Store } from './db.ts'

/** Beyond this the server's own rounds are enough. */
const LARGE = 200_000
const WORTH_IT = 200

/** Returns the tables whose statistics were gathered. */
export async function gatherStatistics(store: Store): Promise<string[]> {
  if (store.dialect.engine !== 'postgres') return []
  const changed = await store.rows<{ name: string }>(
    `select relname as name from pg_stat_user_tables
      where schemaname = current_schema() and n_mod_since_analyze > ? and n_mod_since_analyze > n_live_tup / 2 and n_live_tup < ?`,
    [WORTH_IT, LARGE],
  )
  const names = changed.map(({ name }) => name).filter((name) => /^[a-z_]+$/.test(name))
  // Where somebody else is at it already, that is as good.
  for (const name of names) await store.tx((tx) => tx.run(`analyze (skip_locked) ${name}`))
  return names
}
