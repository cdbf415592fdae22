// The rows of memories. Every query names the tenant.
import type { MemoryScope, MemoryStatus, MemoryType } from '@sensorium/contract'
import { one, type Db, type Dialect } from '../store/db.ts'
import { seenBy, type Condition, type Viewer } from './see.ts'

export interface MemoryRow {
  tenant_id: string
  id: string
  agent_id: string
  team_id: string | null
  project_id: string | null
  type: MemoryType
  scope: MemoryScope
  status: MemoryStatus
  title: string
  content: string
  confidence: number
  importance: number
  /** JSON text; `{}` if `metadata_id` names it. */
  metadata: string
  /** Long metadata is kept elsewhere: see long-metadata.ts. */
  metadata_id: string | null
  metadata_bytes: number | null
  source_type: string | null
  source_id: string | null
  source_url: string | null
  source_event_id: string | null
  external_id: string | null
  freshness_date: number | null
  expires_at: number | null
  created_at: number
  updated_at: number
  accessed_at: number
}

/** A memory as it is written: long metadata may be the bytes that were received. */
export type WrittenMemory = Omit<MemoryRow, 'metadata'> & { metadata: string | Buffer }

/** The columns of a memory. Its versions hold all of them except those that versions.ts excludes. */
export const MEMORY_COLUMNS = [
  'tenant_id',
  'id',
  'agent_id',
  'team_id',
  'project_id',
  'type',
  'scope',
  'status',
  'title',
  'content',
  'confidence',
  'importance',
  'metadata',
  'metadata_id',
  'metadata_bytes',
  'source_type',
  'source_id',
  'source_url',
  'source_event_id',
  'external_id',
  'freshness_date',
  'expires_at',
  'created_at',
  'updated_at',
  'accessed_at',
] as const satisfies (keyof MemoryRow)[]

/** The columns of a memory, of the table with the alias `m`, or without an alias of the table that is written to. */
export const memoryColumns = ({ longText }: Dialect, m?: string): string =>
  MEMORY_COLUMNS.map((name) => {
    const column = m === undefined ? name : `${m}.${name}`
    return name === 'metadata' ? longText(column, name) : column
  }).join(', ')

/** Characters of a text that are shown where only its beginning is. */
const BEGINNING = 400

/** Like memoryColumns, with the beginning of long texts and without metadata, which is not even read. */
export const briefColumns = (m: string): string =>
  MEMORY_COLUMNS.map((name) => {
    if (name === 'metadata') return `'{}' as metadata`
    if (name === 'metadata_id') return 'null as metadata_id'
    return LONG_TEXTS.has(name) ? `substr(${m}.${name}, 1, ${BEGINNING}) as ${name}` : `${m}.${name}`
  }).join(', ')

/** Rows up to this many bytes are read with the page that lists them: 200 of them are a megabyte. */
const SHORT_ROW = 5_000

/** A row of a page. If it is longer than SHORT_ROW, its long texts are null and are read when its turn comes. */
export type ListedMemory = Omit<MemoryRow, 'title' | 'content' | 'metadata'> & {
  title: string | null
  content: string | null
  metadata: string | null
  bytes: number
}

const LONG_TEXTS = new Set<string>(['title', 'content', 'metadata'])

/**
 * The bytes of a memory's long texts, of the table with the alias `m` or without one. Neither engine has to read a text
 * to know its length in bytes.
 */
export function bytesOf(m = ''): string {
  const of = m === '' ? '' : `${m}.`
  return `octet_length(${of}title) + octet_length(${of}content) + coalesce(${of}metadata_bytes, octet_length(${of}metadata))`
}

/** The columns of a ListedMemory, of the table with the alias `m`. */
export function listedColumns(m: string): string {
  const bytes = bytesOf(m)
  const column = (name: string): string =>
    LONG_TEXTS.has(name) ? `case when ${bytes} <= ${SHORT_ROW} then ${m}.${name} end as ${name}` : `${m}.${name}`
  return `${MEMORY_COLUMNS.map(column).join(', ')}, ${bytes} as bytes`
}

/**
 * Inserts unless the external id is taken; returns how many rows were written. On PostgreSQL it waits for a competing
 * insert.
 */
export const insertMemory = (db: Db, row: WrittenMemory): Promise<number> =>
  db.run(
    `insert into memories (${MEMORY_COLUMNS.join(', ')}) values (${MEMORY_COLUMNS.map((name) =>
      row[name] instanceof Uint8Array ? db.dialect.textOfBytes : '?',
    ).join(', ')}) on conflict do nothing`,
    MEMORY_COLUMNS.map((name) => row[name]),
  )

/** Returns the memory if the viewer sees it. */
export function findSeenMemory(db: Db, viewer: Viewer, id: string, now: number): Promise<MemoryRow | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryRow>(db, `select ${memoryColumns(db.dialect, 'm')} from memories m where ${seen.sql} and m.id = ?`, [
    ...seen.values,
    id,
  ])
}

/** Returns the memory if the viewer sees it, locked against other writers until the transaction ends. */
export function lockSeenMemory(tx: Db, viewer: Viewer, id: string, now: number): Promise<MemoryRow | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryRow>(
    tx,
    `select ${memoryColumns(tx.dialect, 'm')} from memories m where ${seen.sql} and m.id = ? ${tx.dialect.forUpdate}`,
    [...seen.values, id],
  )
}

/** The owner of a memory and who sees it, without its texts, which may have 10 MB. */
export type MemoryHead = Pick<MemoryRow, 'tenant_id' | 'id' | 'agent_id' | 'team_id' | 'scope'>

const HEAD = 'm.tenant_id, m.id, m.agent_id, m.team_id, m.scope'

/** Returns the head of a memory if the viewer sees it. */
export function findSeenHead(db: Db, viewer: Viewer, id: string, now: number): Promise<MemoryHead | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryHead>(db, `select ${HEAD} from memories m where ${seen.sql} and m.id = ?`, [...seen.values, id])
}

/** Like findSeenHead, with the memory locked against other writers until the transaction ends. */
export function lockSeenHead(tx: Db, viewer: Viewer, id: string, now: number): Promise<MemoryHead | undefined> {
  const seen = seenBy(viewer, now)
  const { forUpdate } = tx.dialect
  return one<MemoryHead>(tx, `select ${HEAD} from memories m where ${seen.sql} and m.id = ? ${forUpdate}`, [
    ...seen.values,
    id,
  ])
}

/** Marks a locked memory as deleted, at a time as `timeOfChange` returns it, and leaves its texts alone. */
export const markDeleted = (tx: Db, { tenant_id, id }: MemoryHead, now: number): Promise<number> =>
  tx.run(
    `update memories set status = 'deleted', updated_at = case when updated_at < ? then ? else updated_at + 1 end
      where tenant_id = ? and id = ?`,
    [now, now, tenant_id, id],
  )

/** Returns the owner's memory with the external id, past its expiry or not, locked until the transaction ends. */
export const lockByExternalId = (
  tx: Db,
  owner: Pick<Viewer, 'tenantId' | 'id'>,
  externalId: string,
): Promise<MemoryRow | undefined> =>
  one<MemoryRow>(
    tx,
    `select ${memoryColumns(tx.dialect, 'm')} from memories m
      where m.tenant_id = ? and m.agent_id = ? and m.external_id = ? and m.status = 'active' ${tx.dialect.forUpdate}`,
    [owner.tenantId, owner.id, externalId],
  )

/** Marks the memory as read now, if the viewer sees it, and returns the updated row. */
export function touchSeenMemory(tx: Db, viewer: Viewer, id: string, now: number): Promise<MemoryRow | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryRow>(
    tx,
    `update memories as m set accessed_at = ? where ${seen.sql} and m.id = ? returning ${memoryColumns(tx.dialect)}`,
    [now, ...seen.values, id],
  )
}

/**
 * Marks memories as read now. They are locked in the order of their ids, so that two searches never deadlock.
 */
export function touchMemories(tx: Db, tenantId: string, ids: readonly string[], now: number): Promise<number> {
  const { inList, list, forUpdate } = tx.dialect
  return tx.run(
    `with held as (select id from memories where tenant_id = ? and ${inList('id')} and accessed_at < ? order by id ${forUpdate})
     update memories set accessed_at = ? where tenant_id = ? and id in (select id from held)`,
    [tenantId, list(ids), now, now, tenantId],
  )
}

/** Columns that no change of a memory writes. */
const FIXED = new Set<keyof MemoryRow>(['tenant_id', 'id', 'agent_id', 'external_id', 'created_at', 'accessed_at'])
const CHANGING = MEMORY_COLUMNS.filter((name) => !FIXED.has(name))

/** Writes the columns of a memory that can change. */
export const saveMemory = (tx: Db, row: MemoryRow): Promise<number> =>
  tx.run(`update memories set ${CHANGING.map((name) => `${name} = ?`).join(', ')} where tenant_id = ? and id = ?`, [
    ...CHANGING.map((name) => row[name]),
    row.tenant_id,
    row.id,
  ])

/** Returns the given memories that meet the condition on `m`, in the order of `ids`. */
export async function listMemoriesById(db: Db, seen: Condition, ids: readonly string[]): Promise<ListedMemory[]> {
  if (ids.length === 0) return []
  const rows = await db.rows<ListedMemory>(
    `select ${listedColumns('m')} from memories m where ${seen.sql} and ${db.dialect.inList('m.id')}`,
    [...seen.values, db.dialect.list(ids)],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

const IS_EXPIRED = "m.status = 'active' and m.expires_at is not null and m.expires_at <= ?"

/**
 * Returns the tenants that have memories past their expiry. Locks nothing. The subquery for each tenant reads no memory
 * that still has time. On a sharded store the table of tenants cannot be queried against the tables that are sharded.
 */
export const tenantsWithExpired = async (db: Db, now: number): Promise<string[]> =>
  (
    await db.rows<{ tenant_id: string }>(
      db.isSharded
        ? `select distinct m.tenant_id from memories m where ${IS_EXPIRED}`
        : `select t.tenant_id from tenants t where exists (select 1 from memories m where m.tenant_id = t.tenant_id and ${IS_EXPIRED})`,
      [now],
    )
  ).map(({ tenant_id }) => tenant_id)

/** A memory past its expiry, with the bytes of its texts. */
export interface ExpiredMemory {
  tenant_id: string
  id: string
  bytes: number
}

/** Returns some memories of a tenant past their expiry, earliest first, locked against other workers. */
export const lockExpired = (tx: Db, tenantId: string, now: number, limit: number): Promise<ExpiredMemory[]> =>
  tx.rows(
    `select m.tenant_id, m.id, ${bytesOf('m')} as bytes from memories m
      where m.tenant_id = ? and ${IS_EXPIRED} order by m.expires_at limit ? ${tx.dialect.skipLocked}`,
    [tenantId, now, limit],
  )

/** Marks a memory as expired. The caller holds its row. */
export const setExpired = (tx: Db, tenantId: string, id: string): Promise<number> =>
  tx.run(`update memories set status = 'expired' where tenant_id = ? and id = ?`, [tenantId, id])
