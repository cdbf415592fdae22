// The columns of the tenants that were searched lately, inside the search thread of the embedded store.
//
// They are brought up to date before each search, from the log of changes that triggers write with the changes
// themselves. Who reads sees only what is committed, so the columns never hold what was rolled back.
import { one } from '../../store/db.ts'
import type { Cells, ReaderDb } from '../../store/sqlite.ts'
import type { Weights } from '../rank.ts'
import { TenantColumns, type MemoryColumns } from './tenant-columns.ts'
import { countWords, wordsOf } from './terms.ts'

/** Columns of other tenants are dropped beyond this. */
const MAX_BYTES = 96 * 1_048_576
/** More new texts than this since the last search are not worth patching the words that were kept. */
const MAX_PATCHED = 200

const COLUMNS = [
  'm.tenant_id',
  'm.id',
  'm.agent_id',
  'm.team_id',
  'm.scope',
  'm.status',
  'm.type',
  'm.expires_at',
  'r.doc',
  'r.length',
  // What its words are, besides its text: both are read anew when either changes.
  'r.version * 256 + r.word_rules',
] as const

const SIGNATURES = 'select memory_id, number, signature from memory_vectors where tenant_id = ? and model = ?'

export interface TenantCache {
  /** The columns of a tenant as of the snapshot that is being read, with the windows of one model. */
  columnsOf(tenantId: string, model: string): Promise<TenantColumns>
}

/** `weights` says for each weight of a score the expression over `m` that has it. */
export function makeTenantCache(db: ReaderDb, weights: Readonly<Record<keyof Weights, string>>): TenantCache {
  // In the order of their last search.
  const kept = new Map<string, TenantColumns>()
  const weightNames = Object.keys(weights) as (keyof Weights)[]
  // The live memories of a tenant, with the state of their index.
  const ROWS = `select ${[...COLUMNS, ...Object.values(weights)].join(', ')}
    from memories m join memory_recall r on r.tenant_id = m.tenant_id and r.memory_id = m.id
    where m.tenant_id = ? and m.status = 'active'`

  function memoryColumns(cells: Cells): MemoryColumns {
    const [tenant_id, id, agent_id, team_id, scope, status, type, expires_at, doc, length, version, ...rest] = cells
    const weighed = Object.fromEntries(weightNames.map((name, i) => [name, rest[i]]))
    return {
      ...{ tenant_id, id, agent_id, team_id, scope, status, type, expires_at, doc, length, version },
      weights: weighed,
    } as unknown as MemoryColumns
  }

  const addWindow =
    (columns: TenantColumns) =>
    ([id, number, signature]: Cells): void =>
      columns.addWindow(id as string, number as number, signature as Uint8Array)

  function read(tenantId: string, model: string, seq: number): TenantColumns {
    const columns = new TenantColumns(weightNames)
    db.each(ROWS, [tenantId], (cells) => void columns.put(memoryColumns(cells)))
    db.each(SIGNATURES, [tenantId, model], addWindow(columns))
    columns.seq = seq
    return columns
  }

  async function patchPostings(
    columns: TenantColumns,
    tenantId: string,
    changed: ReadonlyMap<string, { place: number; changed: boolean }>,
  ): Promise<void> {
    if (changed.size > MAX_PATCHED) return columns.postings.clear()
    if (changed.size === 0) return
    const texts = await db.rows<{ id: string; title: string; content: string }>(
      `select id, title, content from memories where tenant_id = ? and ${db.dialect.inList('id')}`,
      [tenantId, db.dialect.list([...changed.keys()])],
    )
    columns.postings.patch(
      texts.map(({ id, title, content }) => ({
        ...changed.get(id)!,
        counts: countWords(wordsOf(title), wordsOf(content)).counts,
      })),
    )
  }

  async function update(columns: TenantColumns, tenantId: string, model: string, seq: number): Promise<void> {
    const changed = await db.rows<{ memory_id: string }>(
      'select distinct memory_id from memory_changes where tenant_id = ? and seq > ?',
      [tenantId, columns.seq],
    )
    const ids = new Set(changed.map(({ memory_id }) => memory_id))
    columns.seq = seq
    if (ids.size === 0) return
    const list = db.dialect.list([...ids])
    columns.dropWindows(ids)
    const gone = new Set(ids)
    const newTexts = new Map<string, { place: number; changed: boolean }>()
    db.each(`${ROWS} and ${db.dialect.inList('m.id')}`, [tenantId, list], (cells) => {
      const row = memoryColumns(cells)
      const { place, before } = columns.put(row)
      if (before !== row.version) newTexts.set(row.id, { place, changed: before !== undefined })
      gone.delete(row.id)
    })
    await patchPostings(columns, tenantId, newTexts)
    for (const id of gone) columns.remove(id)
    db.each(`${SIGNATURES} and ${db.dialect.inList('memory_id')}`, [tenantId, model, list], addWindow(columns))
  }

  return {
    async columnsOf(tenantId, model) {
      const key = `${tenantId} ${model}`
      // The log of changes is cut from its old end: who has not seen what was cut starts anew.
      const log = await one<{ newest: number | null; oldest: number | null }>(
        db,
        'select max(seq) as newest, min(seq) as oldest from memory_changes',
      )
      const seq = log?.newest ?? 0
      let columns = kept.get(key)
      kept.delete(key)
      if (columns && !columns.fragmented && columns.seq >= (log?.oldest ?? 0) - 1)
        await update(columns, tenantId, model, seq)
      else columns = read(tenantId, model, seq)
      kept.set(key, columns)
      let bytes = 0
      for (const each of kept.values()) bytes += each.bytes
      for (const [other, each] of kept) {
        if (bytes <= MAX_BYTES || other === key) break
        kept.delete(other)
        bytes -= each.bytes
      }
      return columns
    },
  }
}
