// Converts memories to rows of the columns, on both engines.
import { makeYieldCpu } from '../../kernel/yield-cpu.ts'
import type { Reads } from '../../store/db.ts'
import type { Weights } from '../rank.ts'
import { addToVocabularies } from './spelling.ts'
import type { MemoryColumns, TenantColumns } from './tenant-columns.ts'
import { countSteps, type Counted } from './terms.ts'

/**
 * The SQL expression of each weight of a score. On SQLite, the trigger `memory_changed` must name each of these columns
 * that can change.
 */
export const WEIGHTS: Record<keyof Weights, string> = {
  confidence: 'm.confidence',
  importance: 'm.importance',
  freshAt: 'coalesce(m.freshness_date, m.updated_at)',
}
export const weightNames = Object.keys(WEIGHTS) as (keyof Weights)[]

/** The columns of a memory `m` and of its index `r`, in this order; the weights come last. */
export const COLUMNS = [
  'm.id',
  'm.agent_id',
  'm.team_id',
  'm.scope',
  'm.type',
  'm.expires_at',
  'r.length',
  // The version of the text and of the rules for its words: the words are read again when either changes.
  'r.version * 256 + r.word_rules',
  ...Object.values(WEIGHTS),
] as const

export function columnsFromCells(tenantId: string, cells: readonly unknown[], doc: number | null): MemoryColumns {
  const weights = {} as Record<keyof Weights, number>
  for (let i = 0; i < weightNames.length; i++) weights[weightNames[i]!] = cells[8 + i] as number
  return {
    tenant_id: tenantId,
    id: cells[0],
    agent_id: cells[1],
    team_id: cells[2],
    scope: cells[3],
    status: 'active',
    type: cells[4],
    expires_at: cells[5],
    length: cells[6],
    version: cells[7],
    doc,
    weights,
  } as MemoryColumns
}

/**
 * With more new texts than this since the last search, or more bytes of them, the cached words are dropped and read
 * again as they are asked for. The words of 64 KiB take some 20 ms to find, for which the searches of all tenants wait:
 * 199 texts of 32 kB took 1.5 seconds.
 */
const MAX_PATCHED = 200
export const MAX_PATCHED_BYTES = 65_536

const yieldCpu = makeYieldCpu()

function countedWithRests(title: string, content: string): Counted {
  const steps = countSteps(title, content)
  for (;;) {
    yieldCpu()
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** A window with the signature of its vector. */
export interface SignedWindow {
  id: string
  number: number
  signature: Uint8Array
}

interface NewText {
  id: string
  title: string
  content: string
}

/** Returns the texts of these memories; null if there are more than are worth patching. */
async function readNewTexts(db: Reads, tenantId: string, ids: readonly string[]): Promise<NewText[] | null> {
  if (ids.length === 0) return []
  if (ids.length > MAX_PATCHED) return null
  const { list, inList } = db.dialect
  const wanted = `tenant_id = ? and ${inList('id')}`
  // The texts of some memories of a tenant, or nothing if they are longer than a limit together. Their lengths are
  // known without reading them.
  const texts = await db.rows<NewText>(
    `select id, title, content from memories where ${wanted}
       and (select sum(octet_length(title) + octet_length(content)) from memories where ${wanted}) <= ?`,
    [tenantId, list(ids), tenantId, list(ids), MAX_PATCHED_BYTES],
  )
  return texts.length > 0 ? texts : null
}

/** Brings columns up to date with changed memories: `rows` are those still live, `windows` all windows of them. */
export async function applyChanges(
  db: Reads,
  columns: TenantColumns,
  tenantId: string,
  ids: ReadonlySet<string>,
  rows: readonly MemoryColumns[],
  windows: readonly SignedWindow[],
): Promise<void> {
  const versionOf = new Map(rows.map(({ id }) => [id, columns.versionOf(id)]))
  const newTexts = rows.filter(({ id, version }) => versionOf.get(id) !== version).map(({ id }) => id)
  const texts = await readNewTexts(db, tenantId, newTexts)
  // No await from here on: no search may see a memory without its windows, or cache a word that it read before.
  columns.dropWindows(ids)
  const rowOf = new Map(rows.map((memory) => [memory.id, columns.put(memory)]))
  for (const id of ids) if (!rowOf.has(id)) columns.remove(id)
  for (const { id, number, signature } of windows) columns.addWindow(id, number, signature)
  if (newTexts.length > 0) columns.texts++
  if (texts === null) {
    columns.vocabularies.clear()
    return columns.postings.clear()
  }
  const changed = texts.map(({ id, title, content }) => {
    // As in the index, which does not have all words of a text with very many different words.
    const { counts } = countedWithRests(title, content)
    return { row: rowOf.get(id)!, changed: versionOf.get(id) !== undefined, counts }
  })
  columns.postings.patch(changed, yieldCpu)
  for (const { counts } of changed) addToVocabularies(columns.vocabularies, counts.keys())
}
