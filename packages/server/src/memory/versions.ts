// The versions of a memory. A change writes the values it replaced, in its own transaction; a creation writes nothing.
//
// 1. Versions are numbered from 1, which is the memory as it was created. Row v holds who made version v, when, and the
//    values that it replaced, so an older version is rebuilt by undoing the newer ones one after the other.
// 2. The newest MAX_VERSIONS are kept, with no more than MAX_BYTES of replaced values; the last change is always kept.
import { type Db, one, type Reads } from '../store/db.ts'
import { releaseMetadata, type LeftMetadata, type MetadataColumns } from './long-metadata.ts'
import { MEMORY_COLUMNS, type MemoryRow } from './sql.ts'

const MAX_VERSIONS = 100
const MAX_BYTES = 1_048_576

const LONG = ['title', 'content', 'metadata'] as const satisfies (keyof MemoryRow)[]
/** Where long metadata is: part of `metadata`, with which a version keeps it. */
const WITH_METADATA = ['metadata_id', 'metadata_bytes'] as const satisfies (keyof MemoryRow)[]
/** Columns that never change, and columns that are not part of a version. */
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
const NOT_SHORT = [...LONG, ...WITH_METADATA, ...UNVERSIONED] as const
type Short = Exclude<(typeof MEMORY_COLUMNS)[number], (typeof NOT_SHORT)[number]>
const SHORT = MEMORY_COLUMNS.filter((name): name is Short => !(NOT_SHORT as readonly string[]).includes(name))

/** The fields of a version: everything that a caller can change about a memory. */
export const VERSIONED = [...LONG, ...SHORT] as const
export type Field = (typeof VERSIONED)[number]
export type Versioned = Pick<MemoryRow, Field | (typeof WITH_METADATA)[number]>

const differs = (a: Versioned, b: Versioned, name: Field): boolean =>
  a[name] !== b[name] || (name === 'metadata' && a.metadata_id !== b.metadata_id)

/** Whether two states of a memory are the same version. */
export const isSameVersion = (a: Versioned, b: Versioned): boolean => !VERSIONED.some((name) => differs(a, b, name))

const NO_LONG_METADATA = { metadata_id: null, metadata_bytes: null }

interface VersionRow {
  version: number
  changed_at: number
  changed_by: string
  rest: string
  title: string | null
  content: string | null
  metadata: string | null
  metadata_id: string | null
  metadata_bytes: number | null
}

/** A version as it was, and the fields it changed: all of them for the oldest version that is kept. */
export interface Version {
  version: number
  changedAt: number
  changedBy: string
  changed: readonly Field[]
  state: Versioned
}

/** Returns the version up to which rows are deleted, 0 for none, given the bytes of the rows, newest first. */
export function dropUpTo(rows: readonly { version: number; bytes: number }[]): number {
  let bytes = 0
  const past = rows.findIndex((row, i) => {
    bytes += row.bytes
    return i > 0 && (i >= MAX_VERSIONS || bytes > MAX_BYTES)
  })
  return past === -1 ? 0 : rows[past]!.version
}

/**
 * Returns the time of a change that a verb makes now. Every change has a time of its own, later than the last one,
 * because a response and its record name a change by it (`textsAt`). Several may come in one millisecond, and the
 * clocks of two nodes may be some apart.
 */
export const timeOfChange = ({ updated_at }: Pick<MemoryRow, 'updated_at'>, now: number): number =>
  Math.max(now, updated_at + 1)

/** Called by a verb that changes a memory, with the row as it was, which the verb has locked, and as it is now. */
export async function keepVersion(tx: Db, changedBy: string, before: MemoryRow, now: MemoryRow): Promise<void> {
  const changed = VERSIONED.filter((name) => differs(before, now, name))
  if (changed.length === 0) return
  const rest = JSON.stringify(
    Object.fromEntries(SHORT.filter((name) => changed.includes(name)).map((name) => [name, before[name]])),
  )
  const texts = LONG.map((name) => (changed.includes(name) ? before[name] : null))
  const { metadata_id, metadata_bytes } = changed.includes('metadata') ? before : NO_LONG_METADATA
  const bytes = [rest, ...texts].reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), metadata_bytes ?? 0)
  // The bytes of each kept row of a memory, newest first. The memory is locked, so nobody adds a row meanwhile.
  const kept = await tx.rows<{ version: number; bytes: number }>(
    'select version, bytes from memory_versions where tenant_id = ? and memory_id = ? order by version desc',
    [now.tenant_id, now.id],
  )
  const version = (kept[0]?.version ?? 1) + 1
  await tx.run(
    `insert into memory_versions (tenant_id, memory_id, version, changed_at, changed_by, bytes, rest,
       title, content, metadata, metadata_id, metadata_bytes)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[now.tenant_id, now.id, version, now.updated_at, changedBy, bytes, rest],
      ...texts,
      metadata_id,
      metadata_bytes,
    ],
  )
  const last = dropUpTo([{ version, bytes }, ...kept])
  if (last === 0) return
  // Deletes the oldest rows of a memory, and returns the long metadata that they named.
  const dropped = await tx.rows<Pick<VersionRow, 'metadata_id' | 'metadata_bytes'>>(
    'delete from memory_versions where tenant_id = ? and memory_id = ? and version <= ? returning metadata_id, metadata_bytes',
    [now.tenant_id, now.id, last],
  )
  await releaseMetadata(tx, now, dropped, now.updated_at)
}

/** Returns the bytes of all kept rows of a memory. */
export async function bytesOfVersions(db: Db, { tenant_id, id }: Pick<MemoryRow, 'tenant_id' | 'id'>): Promise<number> {
  const row = await one<{ bytes: number }>(
    db,
    'select coalesce(cast(sum(bytes) as bigint), 0) as bytes from memory_versions where tenant_id = ? and memory_id = ?',
    [tenant_id, id],
  )
  return Number(row?.bytes ?? 0)
}

/**
 * Returns the kept versions of a memory, newest first. The transaction must have locked the memory, so that the row and
 * its versions belong together.
 */
export async function readVersions(tx: Db, memory: MemoryRow): Promise<Version[]> {
  // The rows of a memory, newest first.
  const rows = await tx.rows<VersionRow>(
    `select version, changed_at, changed_by, rest, title, content, metadata, metadata_id, metadata_bytes from memory_versions
      where tenant_id = ? and memory_id = ? order by version desc`,
    [memory.tenant_id, memory.id],
  )
  return versionsOf(memory, rows)
}

/** Returns the texts of a version; undefined if the memory has the same texts now. Locks nothing. */
export async function textsOfVersion(
  db: Reads,
  { tenant_id, id }: Pick<MemoryRow, 'tenant_id' | 'id'>,
  version: number,
): Promise<Pick<MemoryRow, 'title' | 'content'> | undefined> {
  const later = 'from memory_versions where tenant_id = ? and memory_id = ? and version > ? and'
  const about = [tenant_id, id, version]
  // The first title and content that a later version replaced, or else the present ones; no row if none replaced one.
  return one(
    db,
    `select coalesce((select title ${later} title is not null order by version limit 1), title) as title,
            coalesce((select content ${later} content is not null order by version limit 1), content) as content
       from memories where tenant_id = ? and id = ? and exists (select 1 ${later} (title is not null or content is not null))`,
    [...about, ...about, tenant_id, id, ...about],
  )
}

function versionsOf(memory: MemoryRow, rows: readonly VersionRow[]): Version[] {
  const versions: Version[] = []
  let state: Versioned = memory
  for (const { version, changed_at, changed_by, rest, metadata_id, metadata_bytes, ...texts } of rows) {
    const replaced = JSON.parse(rest) as Partial<Versioned>
    for (const name of LONG) if (texts[name] !== null) replaced[name] = texts[name]
    if (texts.metadata !== null) Object.assign(replaced, { metadata_id, metadata_bytes })
    const changed = VERSIONED.filter((name) => Object.hasOwn(replaced, name))
    versions.push({ version, changedAt: changed_at, changedBy: changed_by, changed, state })
    state = { ...state, ...replaced }
  }
  // Version 1 has no row: it is the memory as it was created.
  if ((rows.at(-1)?.version ?? 2) === 2)
    versions.push({ version: 1, changedAt: memory.created_at, changedBy: memory.agent_id, changed: VERSIONED, state })
  return wholeAtEnd(versions.slice(0, MAX_VERSIONS))
}

/** Makes the oldest of some versions show all fields. */
export function wholeAtEnd(versions: readonly Version[]): Version[] {
  const oldest = versions.at(-1)
  return oldest ? [...versions.slice(0, -1), { ...oldest, changed: VERSIONED }] : []
}

/** Deletes all versions of a memory, whose row the caller holds, and returns the long metadata that they named. */
export const deleteVersions = (tx: Db, tenantId: string, id: string): Promise<LeftMetadata[]> =>
  tx.rows<LeftMetadata>(
    'delete from memory_versions where tenant_id = ? and memory_id = ? returning metadata_id, metadata_bytes',
    [tenantId, id],
  )

/** The texts of a memory that may be long. */
type LongTexts = Pick<MemoryRow, 'title' | 'content'> & MetadataColumns
/** A memory without them. */
export type ShortFields = Omit<MemoryRow, keyof LongTexts>

/**
 * Returns the texts that a memory had after its change at `updatedAt`; undefined if they are no longer known. Does not
 * check who sees the memory: the caller was shown the texts before.
 */
export async function textsAt(
  db: Reads,
  tenantId: string,
  id: string,
  updatedAt: number,
): Promise<LongTexts | undefined> {
  const { longText } = db.dialect
  // One memory, whatever its status.
  const row = await one<LongTexts & { updated_at: number }>(
    db,
    `select updated_at, title, content, ${longText('metadata', 'metadata')}, metadata_id, metadata_bytes
       from memories where tenant_id = ? and id = ?`,
    [tenantId, id],
  )
  if (!row) return undefined
  const { updated_at: lastChange, ...texts } = row
  if (lastChange === updatedAt) return texts
  // Its kept changes, oldest first, and which of its texts each replaced.
  const changes = await db.rows<Record<'version' | 'changed_at' | (typeof LONG)[number], number>>(
    `select version, changed_at, ${LONG.map((name) => `case when ${name} is null then 0 else 1 end as ${name}`).join(', ')}
       from memory_versions where tenant_id = ? and memory_id = ? order by version`,
    [tenantId, id],
  )
  const first = changes[0]
  // Without any change there is none since: a deletion has a time of its own, and the last change is always kept.
  if (!first) return texts
  // The change that followed may be one that is not kept.
  if (first.version > 2 && first.changed_at > updatedAt) return undefined
  for (const name of LONG) {
    const replaced = changes.find((change) => change.changed_at > updatedAt && change[name] === 1)
    if (!replaced) continue
    // The text that a change of a memory replaced.
    const before = await one<LongTexts>(
      db,
      `select ${longText(name, name)}, metadata_id, metadata_bytes from memory_versions
        where tenant_id = ? and memory_id = ? and version = ?`,
      [tenantId, id, replaced.version],
    )
    if (!before) return undefined
    const { metadata_id, metadata_bytes } = name === 'metadata' ? before : texts
    Object.assign(texts, { [name]: before[name], metadata_id, metadata_bytes })
  }
  return texts
}
