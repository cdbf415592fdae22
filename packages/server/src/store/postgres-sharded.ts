// What is written differently where tenants lie on several machines. Each statement names one tenant by its value, so
// the coordinator passes it on whole. Rows that the coordinator would have to look into first (arrays, or the result of
// another statement of a `with`) pass through it and are committed in two phases: 5 to 30 ms for 50 rows instead of 4.
import type { Insert, Value } from './db.ts'
import type { SendMove, SendRows } from './postgres-wire.ts'

/**
 * The most rows in a statement. The number is a power of two: each number of rows is a prepared statement of its own.
 */
const MOST_ROWS = 64

const statements = new WeakMap<Insert, Map<number, string>>()

/** Inserts that many rows, whose values are bound one by one. */
function valuesSql(insert: Insert, rows: number): string {
  const known = statements.get(insert) ?? new Map<number, string>()
  statements.set(insert, known)
  let sql = known.get(rows)
  if (!sql) {
    const types = Object.values(insert.columns)
    const row = `(${types.map((type) => `?::${type}`).join(', ')})`
    sql = `insert into ${insert.into} (${Object.keys(insert.columns).join(', ')}) values ${Array(rows).fill(row).join(', ')}`
    if (insert.conflict) sql += ` ${insert.conflict}`
    if (insert.returning) sql += ` returning ${insert.returning}`
    known.set(rows, sql)
  }
  return sql
}

/** Splits rows by tenant, and those of a tenant into as few statements as powers of two allow. */
export function* portions(
  insert: Insert,
  rows: readonly (readonly Value[])[],
): Generator<{ sql: string; values: Value[] }> {
  const tenant = Object.keys(insert.columns).indexOf('tenant_id')
  for (const ofTenant of Map.groupBy(rows, (row) => row[tenant]).values()) {
    for (let from = 0; from < ofTenant.length; ) {
      const count = Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(ofTenant.length - from)))
      yield { sql: valuesSql(insert, count), values: ofTenant.slice(from, from + count).flat() as Value[] }
      from += count
    }
  }
}

export const sendByTenant: SendRows = async (query, insert, rows) => {
  // All statements are sent before the first result is awaited.
  const sent = Array.from(portions(insert, rows), ({ sql, values }) => query(sql, values))
  return (await Promise.all(sent)).flatMap((result) => result.rows as unknown[])
}

/**
 * The transaction that deletes a row also inserts it: the delete waits for any other that holds the row, and returns it
 * once.
 */
export const moveByTenant: SendMove = async (query, { from, to, columns }, where, values) => {
  const names = Object.keys(columns)
  const shown = names.map((name) => `${columns[name]} as ${name}`).join(', ')
  const { rows } = await query(`delete from ${from} where ${where} returning ${shown}`, values)
  const gone = rows as Record<string, Value>[]
  for (let at = 0; at < gone.length; ) {
    const count = Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(gone.length - at)))
    const row = `(${names.map(() => '?').join(', ')})`
    const insert = `insert into ${to} (${names.join(', ')}) values ${Array(count).fill(row).join(', ')}`
    await query(
      insert,
      gone.slice(at, at + count).flatMap((one) => names.map((name) => one[name]!)),
    )
    at += count
  }
  return gone.length
}
