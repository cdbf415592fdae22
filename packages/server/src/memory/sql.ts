// The rows of memories and of their relationships. Every query names the tenant.
import type { Memory, MemoryScope, MemoryStatus, MemoryType, Relationship, RelationshipType } from '@sensorium/contract'
import { iso, isoOrNull } from '../kernel/clock.ts'
import { one, type Db } from '../store/db.ts'
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
  freshness_date: number | null
  expires_at: number | null
  created_at: number
  updated_at: number
  accessed_at: number
  /** Moves when the title or the content does. */
  text_version: number
}

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

const MEMORY = [
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
  'freshness_date',
  'expires_at',
  'created_at',
  'updated_at',
  'accessed_at',
  'text_version',
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

/** The columns of a memory, of the table with the alias `m`. */
export const memoryColumns = (m: string): string => MEMORY.map((name) => `${m}.${name}`).join(', ')

export const shownMemory = (row: MemoryRow): Memory => ({
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
  metadata: JSON.parse(row.metadata) as Record<string, unknown>,
  source_type: row.source_type,
  source_id: row.source_id,
  source_url: row.source_url,
  source_event_id: row.source_event_id,
  freshness_date: isoOrNull(row.freshness_date),
  expires_at: isoOrNull(row.expires_at),
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  accessed_at: iso(row.accessed_at),
})

export const shownRelationship = (row: Omit<RelationshipRow, 'created_by'>): Relationship => ({
  id: row.id,
  tenant_id: row.tenant_id,
  source_memory_id: row.source_memory_id,
  target_memory_id: row.target_memory_id,
  relationship_type: row.relationship_type,
  strength: row.strength,
  metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>),
  created_at: iso(row.created_at),
})

export const insertMemory = (db: Db, row: MemoryRow): Promise<number> =>
  db.run(
    `insert into memories (${MEMORY.join(', ')}) values (${MEMORY.map(() => '?').join(', ')})`,
    MEMORY.map((name) => row[name]),
  )

/** The memory if the viewer sees it. */
export function findSeenMemory(db: Db, viewer: Viewer, id: string, now: number): Promise<MemoryRow | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryRow>(db, `select ${memoryColumns('m')} from memories m where ${seen.sql} and m.id = ?`, [
    ...seen.values,
    id,
  ])
}

/** The same, held against other writers until the transaction ends. */
export function lockSeenMemory(tx: Db, viewer: Viewer, id: string, now: number): Promise<MemoryRow | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryRow>(
    tx,
    `select ${memoryColumns('m')} from memories m where ${seen.sql} and m.id = ? ${tx.dialect.forUpdate}`,
    [...seen.values, id],
  )
}

/** Marks the memory as read now, if the viewer sees it, and answers it as it then is. */
export function touchSeenMemory(tx: Db, viewer: Viewer, id: string, now: number): Promise<MemoryRow | undefined> {
  const seen = seenBy(viewer, now)
  return one<MemoryRow>(
    tx,
    `update memories as m set accessed_at = ? where ${seen.sql} and m.id = ? returning ${MEMORY.join(', ')}`,
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

/** Writes what can change about a memory. */
export const saveMemory = (tx: Db, row: MemoryRow): Promise<number> =>
  tx.run(
    `update memories set team_id = ?, scope = ?, status = ?, title = ?, content = ?, confidence = ?, importance = ?, metadata = ?,
            freshness_date = ?, expires_at = ?, updated_at = ?, text_version = ?
      where tenant_id = ? and id = ?`,
    [
      row.team_id,
      row.scope,
      row.status,
      row.title,
      row.content,
      row.confidence,
      row.importance,
      row.metadata,
      row.freshness_date,
      row.expires_at,
      row.updated_at,
      row.text_version,
      row.tenant_id,
      row.id,
    ],
  )

/**
 * A page of the memories that meet one of the conditions on `m`, which must not overlap, newest first, and how many
 * there are.
 */
export async function pageMemories(db: Db, tenantId: string, ways: Condition[], offset: number, limit: number) {
  const values = ways.flatMap((way) => way.values)
  const union = ways.map(({ sql }) => `select m.id from memories m where ${sql}`).join(' union all ')
  // The ids first, which an index has; the texts of what is skipped are never read.
  const rows = await db.rows<MemoryRow>(
    `select ${memoryColumns('m')} from (${union} order by id desc limit ? offset ?) p
       join memories m on m.tenant_id = ? and m.id = p.id order by m.id desc`,
    [...values, limit, offset, tenantId],
  )
  const counts = ways.map(({ sql }) => `(select count(*) from memories m where ${sql})`).join(' + ')
  const count = await one<{ n: number }>(db, `select ${counts} as n`, values)
  return { rows, total: count?.n ?? 0 }
}

/**
 * A page of the memories that meet the condition on `m` and whose text meets the one on `t`, newest first, and how
 * many.
 */
export async function pageFoundMemories(
  db: Db,
  tenantId: string,
  seen: Condition,
  held: Condition,
  offset: number,
  limit: number,
) {
  // Materialized: a planner that hopes for a quick end walks all memories from the newest on, and a rare text is in
  // none of them. Cross join: SQLite takes the tables in this order, and would else walk all memories of the tenant for
  // want of statistics.
  const rows = await db.rows<MemoryRow & { total: number }>(
    `with held as materialized (select t.id from memory_texts t where ${held.sql}),
          found as materialized (select m.id from held cross join memories m where m.id = held.id and ${seen.sql})
     select counted.total, ${memoryColumns('m')}
       from (select count(*) as total from found) counted
       left join (select id from found order by id desc limit ? offset ?) p on true
       left join memories m on m.tenant_id = ? and m.id = p.id
      order by m.id desc`,
    [...held.values, ...seen.values, limit, offset, tenantId],
  )
  return { rows: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 }
}

/** Some memories whose time has come, held against other workers. Of all tenants. */
export const lockExpired = (tx: Db, now: number, limit: number): Promise<{ tenant_id: string; id: string }[]> =>
  tx.rows(
    `select tenant_id, id from memories where status = 'active' and expires_at is not null and expires_at <= ?
      order by expires_at limit ? ${tx.dialect.skipLocked}`,
    [now, limit],
  )

export const setExpired = (tx: Db, tenantId: string, id: string): Promise<number> =>
  tx.run(`update memories set status = 'expired' where tenant_id = ? and id = ?`, [tenantId, id])

/** Inserts unless there is one of this type between the two already; answers how many rows were written. */
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
