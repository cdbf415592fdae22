// How much is read from a store at once, and in one turn of the event loop.
import type { Reads, Value } from '../../src/store/db.ts'

/**
 * Passes queries on. `most` has the most rows and bytes of text that one query returned, and bytes that those of one
 * turn did.
 */
export function countedReads<T extends Reads>(db: T) {
  const most = { rows: 0, atOnce: 0, inTurn: 0 }
  let inTurn = 0
  function note(bytes: number): void {
    if (inTurn === 0) setImmediate(() => (inTurn = 0))
    inTurn += bytes
    most.atOnce = Math.max(most.atOnce, bytes)
    most.inTurn = Math.max(most.inTurn, inTurn)
  }
  async function rows<R>(sql: string, values?: readonly Value[]): Promise<R[]> {
    const found = await db.rows<R>(sql, values)
    let bytes = 0
    for (const row of found)
      for (const cell of Object.values(row as object)) if (typeof cell === 'string') bytes += Buffer.byteLength(cell)
    note(bytes)
    most.rows = Math.max(most.rows, found.length)
    return found
  }
  return { db: { ...db, rows } as T, most }
}
