// Columns on the embedded store. They follow a log that triggers write in the same transaction as the changes. A reader
// sees only committed changes, so the columns never hold anything that was rolled back.
import type { Cells, ReaderDb } from '../../store/sqlite.ts'
import { applyChanges, COLUMNS, columnsFromCells, weightNames, type SignedWindow } from './memory-columns.ts'
import type { ColumnSource } from './tenant-cache.ts'
import { TenantColumns, type MemoryColumns } from './tenant-columns.ts'

// The live memories of a tenant, with the state of their index; the row number in the full-text index comes last.
const ROWS = `select ${COLUMNS.join(', ')}, r.doc
  from memories m join memory_recall r on r.tenant_id = m.tenant_id and r.memory_id = m.id
  where m.tenant_id = ? and m.status = 'active'`

// The signatures of the vectors of a tenant that a model made.
const SIGNATURES = 'select memory_id, number, signature from memory_vectors where tenant_id = ? and model = ?'

/** If more than this share of the columns has changed, reading all of them again is faster. */
const MOST_CHANGED = 0.5

const rowOf = (tenantId: string, cells: Cells): MemoryColumns =>
  columnsFromCells(tenantId, cells, cells.at(-1) as number)
const windowOf = ([id, number, signature]: Cells): SignedWindow => ({
  id: id as string,
  number: number as number,
  signature: signature as Uint8Array,
})

export function sqliteColumns(db: ReaderDb): ColumnSource {
  /** Returns the ends of the log. Two selects, because one for both makes SQLite scan it: 9 ms for 100,000 changes. */
  function log(): { oldest: number; newest: number } {
    let ends = { oldest: 0, newest: 0 }
    db.each(
      'select (select min(seq) from memory_changes), (select max(seq) from memory_changes)',
      [],
      ([oldest, newest]) => {
        ends = { oldest: Number(oldest ?? 0), newest: Number(newest ?? 0) }
      },
    )
    return ends
  }

  return {
    async read(tenantId, model) {
      const columns = new TenantColumns(weightNames)
      columns.seenUpTo = log().newest
      db.each(ROWS, [tenantId], (cells) => void columns.put(rowOf(tenantId, cells)))
      db.each(SIGNATURES, [tenantId, model], (cells) => {
        const { id, number, signature } = windowOf(cells)
        columns.addWindow(id, number, signature)
      })
      return columns
    },
    async update(columns, tenantId, model) {
      const { oldest, newest } = log()
      const seen = columns.seenUpTo as number
      // The oldest entries of the log are deleted over time. Columns that have not seen a deleted entry are read again.
      if (seen < oldest - 1) return false
      if (seen === newest) return true
      const ids = new Set<string>()
      db.each('select memory_id from memory_changes where tenant_id = ? and seq > ?', [tenantId, seen], ([id]) => {
        ids.add(id as string)
      })
      if (ids.size > 1_000 && ids.size > columns.ids.length * MOST_CHANGED) return false
      columns.seenUpTo = newest
      if (ids.size === 0) return true
      const list = db.dialect.list([...ids])
      const rows: MemoryColumns[] = []
      db.each(
        `${ROWS} and ${db.dialect.inList('m.id')}`,
        [tenantId, list],
        (cells) => void rows.push(rowOf(tenantId, cells)),
      )
      const windows: SignedWindow[] = []
      db.each(`${SIGNATURES} and ${db.dialect.inList('memory_id')}`, [tenantId, model, list], (cells) => {
        windows.push(windowOf(cells))
      })
      await applyChanges(db, columns, tenantId, ids, rows, windows)
      return true
    },
  }
}
