// The versions of a memory. A change writes what it replaced, in its own transaction; creating writes nothing.
//
// 1. Versions are numbered from 1, which is the memory as it was made. Row v holds who made version v, when, and the
//    values that it replaced, so that the newest are undone one after the other to see an older one.
// 2. Kept are the newest MAX_VERSIONS, and of those no more than MAX_BYTES of what was replaced; the last change always.
import { type Db, one, type Reads } from '../store/db.ts'
import { MEMORY_COLUMNS, type MemoryRow } from './sql.ts'

export const MAX_VERSIONS = 100
const MAX_BYTES = 1_048_576

const LONG = ['title', 'content', 'metadata'] as const satisfies (keyof MemoryRow)[]
/** What never changes, and what a change is not about. */
const UNVERSIONED = [
  'tenant_id',
  'id',
  'agent_id',
  'status',
  'external_id',
  'created_at',
  'updated_at',
  'accessed_at',
] as const satisfies (keyof MemoryRow)[]
const LONG_OR_UNVERSIONED: ReadonlySet<string> = new Set([...LONG, ...UNVERSIONED])
type Short = Exclude<(typeof MEMORY_COLUMNS)[number], (typeof LONG)[number] | (typeof UNVERSIONED)[number]>
const SHORT = MEMORY_COLUMNS.filter((name): name is Short => !LONG_OR_UNVERSIONED.has(name))

/** What a version is made of: everything that can change about a memory. */
export const VERSIONED = [...LONG, ...SHORT] as const
export type Versioned = Pick<MemoryRow, (typeof VERSIONED)[number]>

interface VersionRow {
  version: number
  changed_at: number
  changed_by: string
  rest: string
  title: string | null
  content: string | null
  metadata: string | null
}

/** A version as it was, and what it changed: of the oldest that is kept, everything. */
export interface Version {
  version: number
  changedAt: number
  changedBy: string
  changed: readonly (keyof Versioned)[]
  state: Versioned
}

/** The number up to which rows go, given what the rows take, newest first. */
export function dropUpTo(rows: readonly { version: number; bytes: number }[]): number {
  let bytes = 0
  const past = rows.findIndex((row, i) => {
    bytes += row.bytes
    return i > 0 && (i >= MAX_VERSIONS || bytes > MAX_BYTES)
  })
  return past === -1 ? 0 : rows[past]!.version
}

/** Called by a verb that changes a memory, with the row as it was, which it holds, and as it is now. */
export async function keepVersion(tx: Db, changedBy: string, before: MemoryRow, now: MemoryRow): Promise<void> {
  const changed = VERSIONED.filter((name) => before[name] !== now[name])
  if (changed.length === 0) return
  const rest = JSON.stringify(
    Object.fromEntries(SHORT.filter((name) => changed.includes(name)).map((name) => [name, before[name]])),
  )
  const texts = LONG.map((name) => (changed.includes(name) ? before[name] : null))
  const bytes = [rest, ...texts].reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0)
  // What each kept row of a memory takes, newest first. The memory is held, so nobody adds one meanwhile.
  const kept = await tx.rows<{ version: number; bytes: number }>(
    'select version, bytes from memory_versions where tenant_id = ? and memory_id = ? order by version desc',
    [now.tenant_id, now.id],
  )
  const version = (kept[0]?.version ?? 1) + 1
  await tx.run(
    `insert into memory_versions (tenant_id, memory_id, version, changed_at, changed_by, bytes, rest, title, content, metadata)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [now.tenant_id, now.id, version, now.updated_at, changedBy, bytes, rest, ...texts],
  )
  const last = dropUpTo([{ version, bytes }, ...kept])
  // Deletes the oldest rows of a memory.
  if (last > 0)
    await tx.run('delete from memory_versions where tenant_id = ? and memory_id = ? and version <= ?', [
      now.tenant_id,
      now.id,
      last,
    ])
}

/** What the kept rows of a memory take together. */
export async function bytesOfVersions(db: Db, { tenant_id, id }: Pick<MemoryRow, 'tenant_id' | 'id'>): Promise<number> {
  const row = await one<{ bytes: number }>(
    db,
    'select coalesce(cast(sum(bytes) as bigint), 0) as bytes from memory_versions where tenant_id = ? and memory_id = ?',
    [tenant_id, id],
  )
  return Number(row?.bytes ?? 0)
}

/** Those of a memory that are kept, newest first. For a transaction that holds it: the two must belong together. */
export async function readVersions(tx: Db, memory: MemoryRow): Promise<Version[]> {
  // The rows of a memory, newest first.
  const rows = await tx.rows<VersionRow>(
    `select version, changed_at, changed_by, rest, title, content, metadata from memory_versions
      where tenant_id = ? and memory_id = ? order by version desc`,
    [memory.tenant_id, memory.id],
  )
  return versionsOf(memory, rows)
}

function versionsOf(memory: MemoryRow, rows: readonly VersionRow[]): Version[] {
  const versions: Version[] = []
  let state: Versioned = memory
  for (const { version, changed_at, changed_by, rest, ...texts } of rows) {
    const replaced = JSON.parse(rest) as Partial<Versioned>
    for (const name of LONG) if (texts[name] !== null) replaced[name] = texts[name]
    const changed = VERSIONED.filter((name) => Object.hasOwn(replaced, name))
    versions.push({ version, changedAt: changed_at, changedBy: changed_by, changed, state })
    state = { ...state, ...replaced }
  }
  // The first has no row: it is the memory as it was made.
  if ((rows.at(-1)?.version ?? 2) === 2)
    versions.push({ version: 1, changedAt: memory.created_at, changedBy: memory.agent_id, changed: VERSIONED, state })
  const kept = versions.slice(0, MAX_VERSIONS)
  const oldest = kept.pop()!
  return [...kept, { ...oldest, changed: VERSIONED }]
}

export const deleteVersions = (tx: Db, tenantId: string, id: string): Promise<number> =>
  tx.run('delete from memory_versions where tenant_id = ? and memory_id = ?', [tenantId, id])

/**
 * The metadata that a memory had at a change of its own, told by its time; undefined where that is no longer known.
 * Whoever asks has been shown it before.
 */
export async function metadataAt(
  db: Reads,
  tenantId: string,
  id: string,
  updatedAt: number,
): Promise<string | undefined> {
  const { longText } = db.dialect
  // One memory, whatever has become of it.
  const row = await one<{ updated_at: number; metadata: string }>(
    db,
    `select updated_at, ${longText('metadata', 'metadata')} from memories where tenant_id = ? and id = ?`,
    [tenantId, id],
  )
  if (!row || row.updated_at === updatedAt) return row?.metadata
  // Its changes, the oldest that is kept first.
  const changes = await db.rows<{ version: number; changed_at: number; is_metadata: number }>(
    `select version, changed_at, case when metadata is null then 0 else 1 end as is_metadata from memory_versions
      where tenant_id = ? and memory_id = ? order by version`,
    [tenantId, id],
  )
  const first = changes[0]
  // The change after it may be one of those that are not kept.
  if (!first || (first.version > 2 && first.changed_at > updatedAt)) return undefined
  const replaced = changes.find((change) => change.changed_at > updatedAt && change.is_metadata === 1)
  if (!replaced) return row.metadata
  // What a change of a memory replaced.
  const before = await one<{ metadata: string }>(
    db,
    `select ${longText('metadata', 'metadata')} from memory_versions where tenant_id = ? and memory_id = ? and version = ?`,
    [tenantId, id, replaced.version],
  )
  return before?.metadata
}
