// Converts memories to rows of the columns, on both engines.
import type { Reads } from '../../store/db.ts'
import type { Weights } from '../rank.ts'
import type { MemoryColumns, TenantColumns } from './tenant-columns.ts'
import { wordsOf } from './terms.ts'
import { wordsToIndex } from './write.ts'

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

export function memoryColumns(tenantId: string, cells: readonly unknown[], doc: number | null): MemoryColumns {
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

/** With more new texts than this since the last search, patching the cached words is not worth it. */
const MAX_PATCHED = 200

/** A window with the signature of its vector. */
export interface SignedWindow {
  id: string
  number: number
  signature: Uint8Array
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
  const texts =
    newTexts.length === 0 || newTexts.length > MAX_PATCHED
      ? []
      : await db.rows<{ id: string; title: string; content: string }>(
          `select id, title, content from memories where tenant_id = ? and ${db.dialect.inList('id')}`,
          [tenantId, db.dialect.list(newTexts)],
        )
  // No await from here on: no search may see a memory without its windows, or cache a word that it read before.
  columns.dropWindows(ids)
  const rowOf = new Map(rows.map((memory) => [memory.id, columns.put(memory)]))
  for (const id of ids) if (!rowOf.has(id)) columns.remove(id)
  for (const { id, number, signature } of windows) columns.addWindow(id, number, signature)
  if (newTexts.length > 0) columns.texts++
  if (newTexts.length > MAX_PATCHED) {
    columns.vocabularies.clear()
    return columns.postings.clear()
  }
  const changed = texts.map(({ id, title, content }) => ({
    row: rowOf.get(id)!,
    changed: versionOf.get(id) !== undefined,
    // As in the index, which does not have all words of a text with very many different words.
    counts: wordsToIndex({ tenant_id: tenantId, id }, wordsOf(title), wordsOf(content)).counts,
  }))
  columns.postings.patch(changed)
  for (const { counts } of changed)
    for (const word of counts.keys()) {
      const vocabulary = columns.vocabularies.get(word[0]!)
      vocabulary?.set(word, (vocabulary.get(word) ?? 0) + 1)
    }
}
