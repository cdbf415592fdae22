// Text is compared by its bytes, whatever the collation of the database. Ids are ordered by the time in them, and the
// words of an index are found by ranges of letters. Languages have rules of their own: in Czech `ch` comes after `h`,
// so that a mailbox gave out a later event first, and in most of them no word is between `z` and `{`. Comparing bytes
// is also faster.
import type { Db } from './db.ts'
import { ANCHOR, isDistributed, readDistribution } from './distribution.ts'

/** Text columns that have the collation of the database, where that one does not compare bytes. */
const OTHERWISE = `
  select c.relname as name, quote_ident(a.attname) as column
    from pg_class c join pg_attribute a on a.attrelid = c.oid
   where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and c.relname = any(cast(? as text[]))
     and a.attnum > 0 and not a.attisdropped and a.atttypid = cast('text' as regtype)
     and a.attcollation = cast('pg_catalog."default"' as regcollation)
     and 'a' < 'B'
   order by c.relname, a.attnum`

/**
 * Makes the columns of the declared tables compare bytes, and returns the names of the tables that had others. Their
 * indexes are built again, so a table is locked for as long as that takes.
 */
export async function compareBytes(tx: Db): Promise<string[]> {
  if (tx.dialect.engine !== 'postgres') return []
  const found = await tx.rows<{ name: string; column: string }>(OTHERWISE, [Object.keys(readDistribution())])
  // Citus changes no column that tenants are distributed by, and a new table must be like the others.
  if (found.some(({ name }) => name === ANCHOR) && (await isDistributed(tx))) return []
  const tables = Map.groupBy(found, ({ name }) => name)
  for (const [name, columns] of tables) {
    const changes = columns.map(({ column }) => `alter column ${column} type text collate "C"`)
    await tx.run(`alter table ${name} ${changes.join(', ')}`)
    // The change drops what the planner knew of the columns.
    await tx.run(`analyze ${name}`)
  }
  return [...tables.keys()]
}
