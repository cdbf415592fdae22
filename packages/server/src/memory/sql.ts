// The rows of memories and of their relationships. Every query names the tenant.
import type { MemoryScope, MemoryStatus, MemoryType, RelationshipType } from '@sensorium/contract'
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
  /** JSON text. */
  metadata: string
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

/** A memory as it is written: long metadata may be the bytes that came. */
export type WrittenMemory = Omit<MemoryRow, 'metadata'> & { metadata: string | Buffer }

export interface RelationshipRow {
  tenant_id: string
  id: string
  source_memory_id: string
  target_memory_id: string
  relationship_type: RelationshipType
  strength: number
  metadata: string | null
  created_by: string
  created_at: number
}

/** A memory's columns. Its versions hold all of them but those that versions.ts names. */
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

const RELATIONSHIP = [
  'tenant_id',
  'id',
  'source_memory_id',
  'target_memory_id',
  'relationship_type',
  'strength',
  'metadata',
  'created_by',
  'created_at',
] as const satisfies (keyof RelationshipRow)[]

/** The columns of a memory, of the table with the alias `m`, or of the one that is written to. */
export const memoryColumns = ({ longText }: Dialect, m?: string): string =>
  MEMORY_COLUMNS.map((name) => {
    const column = m === undefined ? name : `${m}.${name}`
    return name === 'metadata' ? longText(column, name) : column
  }).join(', ')

/** More of a text is not shown where only its beginning is. */
const BEGINNING = 400

/** The same with the beginning of long texts and no metadata, which is not even read. */
export const briefColumns = (m: string): string =>
  MEMORY_COLUMNS.map((name) => {
    if (name === 'metadata') return `'{}' as metadata`
    return LONG_TEXTS.has(name) ? `substr(${m}.${name}, 1, ${BEGINNING}) as ${name}` : `${m}.${name}`
  }).join(', ')

/** Rows up to this many bytes come with the page that lists them: 200 of them are a megabyte. */
const SHORT_ROW = 5_000

/** A row of a page: its long texts are null where it is longer than SHORT_ROW, and are read when their turn comes. */
export type ListedMemory = Omit<MemoryRow, 'title' | 'content' | 'metadata'> & {
  title: string | null
  content: string | null
  metadata: string | null
  bytes: number
}

const LONG_TEXTS = new Set<string>(['title', 'content', 'metadata'])

/** The columns of a ListedMemory, of the table with the alias `m`. */
function listedColumns(m: string): string {
  // Neither engine reads a text to tell its length in bytes.
  const bytes = [...LONG_TEXTS].map((name) => `octet_length(${m}.${name})`).join(' + ')
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

/** The memory if the viewer sees it. */
export function findSeenMemory(db: Db, viewer: Viewer, id: string, now: number): Promise<MemoryRow | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryRow>(db, `select ${memoryColumns(db.dialect, 'm')} from memories m where ${seen.sql} and m.id = ?`, [
    ...seen.values,
    id,
  ])
}

/** The memory if the viewer sees it, held against other writers until the transaction ends. */
export function lockSeenMemory(tx: Db, viewer: Viewer, id: string, now: number): Promise<MemoryRow | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryRow>(
    tx,
    `select ${memoryColumns(tx.dialect, 'm')} from memories m where ${seen.sql} and m.id = ? ${tx.dialect.forUpdate}`,
    [...seen.values, id],
  )
}

/** Whose a memory is and who sees it, without its texts, which may have 10 MB. */
export type MemoryHead = Pick<MemoryRow, 'tenant_id' | 'id' | 'agent_id' | 'team_id' | 'scope'>

const HEAD = 'm.tenant_id, m.id, m.agent_id, m.team_id, m.scope'

/** The head of a memory if the viewer sees it. */
export function findSeenHead(db: Db, viewer: Viewer, id: string, now: number): Promise<MemoryHead | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryHead>(db, `select ${HEAD} from memories m where ${seen.sql} and m.id = ?`, [...seen.values, id])
}

/** The same, the memory held against other writers until the transaction ends. */
export function lockSeenHead(tx: Db, viewer: Viewer, id: string, now: number): Promise<MemoryHead | undefined> {
  const seen = seenBy(viewer, now)
  const { forUpdate } = tx.dialect
  return one<MemoryHead>(tx, `select ${HEAD} from memories m where ${seen.sql} and m.id = ? ${forUpdate}`, [
    ...seen.values,
    id,
  ])
}

/** Marks a memory that is held as deleted, and leaves its texts alone. */
export const markDeleted = (tx: Db, { tenant_id, id }: MemoryHead, now: number): Promise<number> =>
  tx.run("update memories set status = 'deleted', updated_at = ? where tenant_id = ? and id = ?", [now, tenant_id, id])

/** The memory of an owner that has the external id, past its expiry or not; held until the transaction ends. */
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

/** Marks the memory as read now, if the viewer sees it, and returns it as it then is. */
export function touchSeenMemory(tx: Db, viewer: Viewer, id: string, now: number): Promise<MemoryRow | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryRow>(
    tx,
    `update memories as m set accessed_at = ? where ${seen.sql} and m.id = ? returning ${memoryColumns(tx.dialect)}`,
    [now, ...seen.values, id],
  )
}

/**
 * Marks memories as read now. They are locked in the order of their ids, so that two searches never wait for each
 * other.
 */
export function touchMemories(tx: Db, tenantId: string, ids: readonly string[], now: number): Promise<number> {
  const { inList, list, forUpdate } = tx.dialect
  return tx.run(
    `with held as (select id from memories where tenant_id = ? and ${inList('id')} and accessed_at < ? order by id ${forUpdate})
     update memories set accessed_at = ? where tenant_id = ? and id in (select id from held)`,
    [tenantId, list(ids), now, now, tenantId],
  )
}

/** What no verb changes. */
const FIXED = new Set<keyof MemoryRow>(['tenant_id', 'id', 'agent_id', 'external_id', 'created_at', 'accessed_at'])
const CHANGING = MEMORY_COLUMNS.filter((name) => !FIXED.has(name))

/** Writes what can change about a memory. */
export const saveMemory = (tx: Db, row: MemoryRow): Promise<number> =>
  tx.run(`update memories set ${CHANGING.map((name) => `${name} = ?`).join(', ')} where tenant_id = ? and id = ?`, [
    ...CHANGING.map((name) => row[name]),
    row.tenant_id,
    row.id,
  ])

/**
 * A page of the memories that meet one of the conditions on `m`, which must not overlap, newest first, and how many
 * there are.
 */
export async function pageMemories(db: Db, tenantId: string, ways: Condition[], offset: number, limit: number) {
  const values = ways.flatMap((way) => way.values)
  const union = ways.map(({ sql }) => `select m.id from memories m where ${sql}`).join(' union all ')
  // The ids first, which an index has; the texts of what is skipped are never read.
  const rows = await db.rows<ListedMemory>(
    `select ${listedColumns('m')} from (${union} order by id desc limit ? offset ?) p
       join memories m on m.tenant_id = ? and m.id = p.id order by m.id desc`,
    [...values, limit, offset, tenantId],
  )
  const counts = ways.map(({ sql }) => `(select count(*) from memories m where ${sql})`).join(' + ')
  const count = await one<{ n: number }>(db, `select ${counts} as n`, values)
  return { rows, total: count?.n ?? 0 }
}

/** Given memories of a tenant that meet the condition on `m`, in the order of the ids. */
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
 * The tenants that have memories whose time has come. Locks nothing. A look for each tenant reads nothing of what still
 * has time; where tenants lie on several machines, the list of them cannot be asked about tables that are spread.
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

/** Some memories of a tenant whose time has come, the first first, held against other workers. */
export const lockExpired = (
  tx: Db,
  tenantId: string,
  now: number,
  limit: number,
): Promise<{ tenant_id: string; id: string }[]> =>
  tx.rows(
    `select m.tenant_id, m.id from memories m where m.tenant_id = ? and ${IS_EXPIRED}
      order by m.expires_at limit ? ${tx.dialect.skipLocked}`,
    [tenantId, now, limit],
  )

export const setExpired = (tx: Db, tenantId: string, id: string): Promise<number> =>
  tx.run(`update memories set status = 'expired' where tenant_id = ? and id = ?`, [tenantId, id])

/** Inserts unless there is one of this type between the two already; returns how many rows were written. */
export const insertRelationship = (tx: Db, row: RelationshipRow): Promise<number> =>
  tx.run(
    `insert into memory_relationships (${RELATIONSHIP.join(', ')}) values (${RELATIONSHIP.map(() => '?').join(', ')})
     on conflict (tenant_id, source_memory_id, target_memory_id, relationship_type) do nothing`,
    RELATIONSHIP.map((name) => row[name]),
  )

export const findSameRelationship = (db: Db, row: RelationshipRow) =>
  one<{ id: string }>(
    db,
    `select id from memory_relationships
      where tenant_id = ? and source_memory_id = ? and target_memory_id = ? and relationship_type = ?`,
    [row.tenant_id, row.source_memory_id, row.target_memory_id, row.relationship_type],
  )

export const findRelationship = (db: Db, tenantId: string, sourceId: string, id: string) =>
  one<RelationshipRow>(
    db,
    `select ${RELATIONSHIP.join(', ')} from memory_relationships where tenant_id = ? and source_memory_id = ? and id = ?`,
    [tenantId, sourceId, id],
  )

/** Deletes a relationship once; a second time changes nothing. */
export const deleteRelationshipRow = (tx: Db, tenantId: string, id: string): Promise<number> =>
  tx.run('delete from memory_relationships where tenant_id = ? and id = ?', [tenantId, id])
