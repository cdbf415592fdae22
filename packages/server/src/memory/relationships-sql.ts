// The rows of relationships between memories. Every query names the tenant.
import type { RelationshipType } from '@sensorium/contract'
import { one, type Db } from '../store/db.ts'

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

/** Inserts unless one of this type from source to target exists already; returns how many rows were written. */
export const insertRelationship = (tx: Db, row: RelationshipRow): Promise<number> =>
  tx.run(
    `insert into memory_relationships (${RELATIONSHIP.join(', ')}) values (${RELATIONSHIP.map(() => '?').join(', ')})
     on conflict (tenant_id, source_memory_id, target_memory_id, relationship_type) do nothing`,
    RELATIONSHIP.map((name) => row[name]),
  )

/** Returns the relationship that is in the way of this one, if there is one. Locks nothing. */
export const findSameRelationship = (db: Db, row: RelationshipRow) =>
  one<{ id: string }>(
    db,
    `select id from memory_relationships
      where tenant_id = ? and source_memory_id = ? and target_memory_id = ? and relationship_type = ?`,
    [row.tenant_id, row.source_memory_id, row.target_memory_id, row.relationship_type],
  )

/** A relationship by its id, if it begins at this memory. */
const SELECTED = `select ${RELATIONSHIP.join(', ')} from memory_relationships
  where tenant_id = ? and source_memory_id = ? and id = ?`

/** Returns a relationship that begins at this memory. Locks nothing. */
export const findRelationship = (db: Db, tenantId: string, sourceId: string, id: string) =>
  one<RelationshipRow>(db, SELECTED, [tenantId, sourceId, id])

/** The same, locked until the transaction ends: nobody deletes or moves it meanwhile. */
export const lockRelationship = (tx: Db, tenantId: string, sourceId: string, id: string) =>
  one<RelationshipRow>(tx, `${SELECTED} ${tx.dialect.forUpdate}`, [tenantId, sourceId, id])

/** Deletes a relationship that is locked. */
export const deleteRelationshipRow = (tx: Db, tenantId: string, id: string) =>
  tx.run('delete from memory_relationships where tenant_id = ? and id = ?', [tenantId, id])
