// Memories as JSON on the wire, assembled from what is stored: `metadata` is sent as the text that was received and is
// never parsed. A response over WHOLE_LENGTH bytes is generated a few rows at a time while it is sent, so that a list
// of 200 memories of 10 MB needs the space of one.
import { slicesOf } from '../kernel/beginning-of.ts'
import { iso, isoOrNull } from '../kernel/clock.ts'
import { joined, type JsonBody } from '../kernel/json-body.ts'
import { WHOLE_LENGTH } from '../kernel/lengths.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Db, Reads } from '../store/db.ts'
import { readParts } from './long-metadata.ts'
import type { RelationshipRow } from './relationships-sql.ts'
import type { Condition } from './see.ts'
import { briefColumns, memoryColumns, type ListedMemory, type MemoryRow } from './sql.ts'

/** How much of a response is read at once: in one step, as SQLite does it. */
const GROUP = 262_144
/** Longer texts are sent in slices of this many characters. */
const SLICE = 262_144

/**
 * Returns a memory as the contract defines it, as JSON text, with its metadata separate: that may have 10 MB. `more` is
 * JSON text that follows the memory's own fields.
 */
export function memoryParts<M>(
  row: Omit<MemoryRow, 'metadata'> & { metadata: M },
  more = '',
): [before: string, metadata: M, after: string] {
  const before = JSON.stringify({
    id: row.id,
    tenant_id: row.tenant_id,
    agent_id: row.agent_id,
    team_id: row.team_id,
    project_id: row.project_id,
    type: row.type,
    scope: row.scope,
    status: row.status,
    title: row.title,
    content: row.content,
    confidence: row.confidence,
    importance: row.importance,
  })
  const after = JSON.stringify({
    source_type: row.source_type,
    source_id: row.source_id,
    source_url: row.source_url,
    source_event_id: row.source_event_id,
    ...(row.external_id === null ? {} : { external_id: row.external_id }),
    freshness_date: isoOrNull(row.freshness_date),
    expires_at: isoOrNull(row.expires_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    accessed_at: iso(row.accessed_at),
  })
  return [`${before.slice(0, -1)},"metadata":`, row.metadata, `,${after.slice(1, -1)}${more}}`]
}

/** Returns the same in slices, with metadata that stands beside the row; null if the memory was erased meanwhile. */
export async function memoryPieces(db: Reads, row: MemoryRow, more = ''): Promise<Iterable<string> | null> {
  const [before, metadata, after] = memoryParts(row, more)
  const parts = row.metadata_id === null ? slices(metadata) : await readParts(db, row.tenant_id, row)
  return parts && piecesAround(before, parts, after)
}

function* piecesAround(before: string, parts: Iterable<string>, after: string): Generator<string> {
  yield before
  yield* parts
  yield after
}

/** Returns a relationship as the contract defines it, as JSON text. */
export function relationshipJson(row: Omit<RelationshipRow, 'created_by'>): string {
  const before = JSON.stringify({
    id: row.id,
    tenant_id: row.tenant_id,
    source_memory_id: row.source_memory_id,
    target_memory_id: row.target_memory_id,
    relationship_type: row.relationship_type,
    strength: row.strength,
  })
  return `${before.slice(0, -1)},"metadata":${row.metadata ?? 'null'},"created_at":"${iso(row.created_at)}"}`
}

/** How memories are read for a response. */
export interface Reading {
  now: number
  /** Long texts are cut and `metadata` is empty, so the response is never long. */
  isBrief?: boolean | undefined
}

/** An item of a response that contains a memory. */
export interface MemoryItem {
  memory: ListedMemory
  /** About how many bytes the item has beside those of its memory. */
  extraBytes?: number
  /** The JSON of the item before its memory, and after it. */
  before?: string | (() => Promise<string>)
  after?: string
}

interface MemoryList {
  /** The JSON before the first item, and after the last, given how many items were written. */
  open: string
  close(items: number): string
  /** The separator of two items; a comma by default. */
  between?: string
  items: readonly MemoryItem[]
  isBrief?: Reading['isBrief']
}

/** Yields a text in slices, none of which ends in the middle of a character. */
const slices = (text: string): Generator<string> => slicesOf(text, SLICE)

/** Returns the whole rows of listed memories by id. Long ones are read here, if they are still seen. */
async function readRows(
  db: Db,
  seen: Condition,
  listed: readonly ListedMemory[],
  isBrief: boolean,
): Promise<Map<string, MemoryRow>> {
  const whole = new Map<string, MemoryRow>()
  const long: string[] = []
  for (const row of listed) {
    if (row.title === null) long.push(row.id)
    else whole.set(row.id, row as MemoryRow)
  }
  if (long.length === 0) return whole
  // The rows of given memories that meet the condition on `m`.
  const rows = await db.rows<MemoryRow>(
    `select ${isBrief ? briefColumns('m') : memoryColumns(db.dialect, 'm')} from memories m where ${seen.sql} and ${db.dialect.inList('m.id')}`,
    [...seen.values, db.dialect.list(long)],
  )
  for (const row of rows) {
    const { status, accessed_at } = listed.find(({ id }) => id === row.id)!
    whole.set(row.id, { ...row, status, accessed_at: Math.max(row.accessed_at, accessed_at) })
  }
  return whole
}

/** Yields items in groups of at most GROUP bytes, or of one item. */
function* groups(items: readonly MemoryItem[]): Generator<MemoryItem[]> {
  let group: MemoryItem[] = []
  let bytes = 0
  for (const item of items) {
    const size = item.memory.bytes + (item.extraBytes ?? 0)
    if (group.length > 0 && bytes + size > GROUP) {
      yield group
      group = []
      bytes = 0
    }
    group.push(item)
    bytes += size
  }
  if (group.length > 0) yield group
}

/** Yields a response. A long memory that was deleted, or hidden from the caller, since it was listed is left out. */
export async function* piecesOf(db: Db, seen: Condition, list: MemoryList): AsyncGenerator<string> {
  const { open, close, items, between = ',', isBrief = false } = list
  yield open
  let count = 0
  for (const group of isBrief ? [items] : groups(items)) {
    const rows = await readRows(
      db,
      seen,
      group.map(({ memory }) => memory),
      isBrief,
    )
    // Reading ten megabytes is a step of its own, and writing the first of them another.
    if (group.some(({ memory }) => memory.bytes > WHOLE_LENGTH)) await nextTurn()
    for (const { memory, before = '', after = '' } of group) {
      const row = rows.get(memory.id)
      const pieces = row && (await memoryPieces(db, row))
      if (!pieces) continue
      if (count++ > 0) yield between
      yield typeof before === 'string' ? before : await before()
      yield* pieces
      yield after
    }
  }
  yield close(count)
}

/**
 * Returns the body of a list: complete if it is short, else in pieces, for which `store` is read when a piece is
 * requested. A brief body is always short: a thousand memories in it are 5 MB at most.
 */
export async function jsonBody(db: Db, store: Db, seen: Condition, list: MemoryList): Promise<JsonBody> {
  const bytes = list.items.reduce((sum, { memory, extraBytes = 0 }) => sum + memory.bytes + extraBytes, 0)
  if (bytes > WHOLE_LENGTH && !list.isBrief) return { pieces: piecesOf(store, seen, list) }
  return { text: await joined(piecesOf(db, seen, list)) }
}
