// Columns on PostgreSQL. They follow a log of changes that each transaction writes. A sequence number cannot give the
// order of commits there: a transaction that began early may commit late. So the columns remember the snapshot they
// were read with, and changes that this snapshot did not see are read again.
import type { Store } from '../../store/db.ts'
import { applyChanges, COLUMNS, columnsFromCells, weightNames, type SignedWindow } from './memory-columns.ts'
import type { ColumnSource } from './tenant-cache.ts'
import { TenantColumns } from './tenant-columns.ts'

/** A tenant with more memories is not kept: its columns would take 150 MB in each process that searches it. */
const MOST_KEPT = 500_000
/** Rows that are read at once, about two megabytes. */
const PAGE = 5_000
/** If more than this share of the columns has changed, reading all of them again is faster. */
const MOST_CHANGED = 0.5

const CELLS = COLUMNS.map((column, i) => `${column} as c${i}`).join(', ')
type Row = Record<`c${number}`, unknown>
const cellsOf = (row: Row): unknown[] => COLUMNS.map((_, i) => row[`c${i}`])

// The live memories of a tenant, with the state of their index.
const ROWS = `select ${CELLS} from memories m join memory_recall r on r.tenant_id = m.tenant_id and r.memory_id = m.id
  where m.tenant_id = ? and m.status = 'active'`
// The signatures of a tenant's windows.
const SIGNATURES =
  'select memory_id, part, signature::text as bits from memory_vectors where tenant_id = ? and model = ?'

interface WindowRow {
  memory_id: string
  part: number
  bits: string
}

/** Returns the bytes that `signatureOf` of embedding.ts makes, from the text of a bit string. */
function signatureOf(bits: string): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8))
  for (let i = 0; i < bits.length; i++) if (bits.charCodeAt(i) === 49) bytes[i >> 3]! |= 1 << (i & 7)
  return bytes
}

const windowOf = ({ memory_id, part, bits }: WindowRow): SignedWindow => ({
  id: memory_id,
  number: part,
  signature: signatureOf(bits),
})

/**
 * A restarted server may have lost commits that were not yet durable, and gives out their numbers again, so columns
 * from before are read again.
 *
 * When one backend dies, the server restarts from within and keeps its start time. It then recovers from its log, and
 * after that its statistics begin anew.
 */
interface Seen {
  started: string
  snapshot: string
}
const SEEN = `concat(pg_postmaster_start_time(), ' ', (select stats_reset from pg_stat_wal)) as started,
  pg_current_snapshot()::text as snapshot`
const noted = ({ started, snapshot }: Seen): string => JSON.stringify({ started, snapshot })

export function postgresColumns(store: Store, mostKept = MOST_KEPT): ColumnSource {
  async function read(tenantId: string, model: string): Promise<TenantColumns | null> {
    const columns = new TenantColumns(weightNames)
    // A snapshot older than all that is read: changes that it does not see are read again.
    const [seen] = await store.rows<Seen>(`select ${SEEN}`)
    columns.seenUpTo = noted(seen!)
    let last = ''
    for (;;) {
      // The next live memories by id. Locks nothing.
      const rows = await store.rows<Row>(`${ROWS} and m.id > ? order by m.id limit ?`, [tenantId, last, PAGE])
      for (const row of rows) columns.put(columnsFromCells(tenantId, cellsOf(row), null))
      if (columns.ids.length > mostKept) return null
      if (rows.length < PAGE) break
      last = columns.ids.at(-1)!
    }
    for (let after: [string, number] = ['', 0]; ; ) {
      // The next windows by memory and number. Locks nothing.
      const rows = await store.rows<WindowRow>(
        `${SIGNATURES} and (memory_id, part) > (?, ?::integer) order by memory_id, part limit ?`,
        [tenantId, model, ...after, PAGE],
      )
      for (const { memory_id, part, bits } of rows) columns.addWindow(memory_id, part, signatureOf(bits))
      if (rows.length < PAGE) break
      after = [rows.at(-1)!.memory_id, rows.at(-1)!.part]
    }
    return columns
  }

  async function update(columns: TenantColumns, tenantId: string, model: string): Promise<boolean> {
    const seen = JSON.parse(columns.seenUpTo as string) as Seen
    // The memories changed by transactions that the snapshot did not see, and the snapshot of this statement.
    const [now] = await store.rows<Seen & { ids: string | null }>(
      `select ${SEEN}, (
         select string_agg(distinct memory_id, ' ') from memory_changes
          where tenant_id = ? and changed_by >= pg_snapshot_xmin(?::pg_snapshot) and not pg_visible_in_snapshot(changed_by, ?::pg_snapshot)
       ) as ids`,
      [tenantId, seen.snapshot, seen.snapshot],
    )
    if (now!.started !== seen.started) return false
    const ids = now!.ids === null ? [] : now!.ids.split(' ')
    if (ids.length > 1_000 && ids.length > columns.ids.length * MOST_CHANGED) return false
    if (ids.length > 0) await refresh(columns, tenantId, model, ids)
    columns.seenUpTo = noted(now!)
    return true
  }

  async function refresh(columns: TenantColumns, tenantId: string, model: string, ids: string[]): Promise<void> {
    const list = store.dialect.list(ids)
    // The changed memories that are still live, and their windows. Locks nothing.
    const rows = await store.rows<Row>(`${ROWS} and ${store.dialect.inList('m.id')}`, [tenantId, list])
    const windows = await store.rows<WindowRow>(`${SIGNATURES} and ${store.dialect.inList('memory_id')}`, [
      tenantId,
      model,
      list,
    ])
    await applyChanges(
      store,
      columns,
      tenantId,
      new Set(ids),
      rows.map((row) => columnsFromCells(tenantId, cellsOf(row), null)),
      windows.map(windowOf),
    )
  }

  return { read, update }
}
