// Creates and deletes relationships. The creator must see both ends. There is at most one relationship of a type from
// one memory to another.
import { DEFAULT_STRENGTH, isId, type RelationshipCreate, type Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { notFound, ruleBroken, taken } from '../kernel/failure.ts'
import { jsonText } from '../kernel/json-members.ts'
import type { Db } from '../store/db.ts'
import { meterStoredBytes } from '../tenants/usage.ts'
import { requireMemory } from './get.ts'
import type { MemoryTools } from './remember.ts'
import { mayAdminister, seenBy, type Viewer } from './see.ts'
import {
  deleteRelationshipRow,
  findSameRelationship,
  insertRelationship,
  lockRelationship,
  type RelationshipRow,
} from './relationships-sql.ts'
import { findSeenMemory } from './sql.ts'
import { relationshipBytes } from './stored-bytes.ts'

/**
 * Locks both ends, which the viewer must see, until the transaction ends: if one were erased or merged meanwhile, a
 * relationship would be left behind that nobody finds. They are locked in the order of their ids, as everywhere.
 */
export async function holdEnds(tx: Db, viewer: Viewer, ids: readonly string[], now: number): Promise<void> {
  const seen = seenBy(viewer, now)
  const known = ids.filter((id) => isId('memory', id))
  // Takes shared locks on the given memories that the viewer sees. Their texts are not read.
  const held = await tx.rows<{ id: string }>(
    `select m.id from memories m where ${seen.sql} and ${tx.dialect.inList('m.id')} order by m.id ${tx.dialect.forShare}`,
    [...seen.values, tx.dialect.list(known)],
  )
  const missing = ids.find((id) => held.every((row) => row.id !== id))
  if (missing !== undefined) throw notFound('memory', missing)
}

export async function relate(
  tx: Db,
  { makeId, now, quotas }: MemoryTools,
  principal: Principal,
  sourceId: string,
  wanted: Static<typeof RelationshipCreate>,
): Promise<RelationshipRow> {
  const at = now()
  await holdEnds(tx, principal, [sourceId, wanted.target_memory_id], at)
  if (wanted.target_memory_id === sourceId) {
    throw ruleBroken('self_relationship', 'A memory has no relationship with itself', { memory_id: sourceId })
  }
  const row: RelationshipRow = {
    tenant_id: principal.tenantId,
    id: makeId('relationship'),
    source_memory_id: sourceId,
    target_memory_id: wanted.target_memory_id,
    relationship_type: wanted.relationship_type,
    strength: wanted.strength ?? DEFAULT_STRENGTH,
    metadata: wanted.metadata ? jsonText(wanted.metadata) : null,
    created_by: principal.id,
    created_at: at,
  }
  if ((await insertRelationship(tx, row)) === 0) {
    throw taken(
      `The relationship ${row.relationship_type} between these memories`,
      (await findSameRelationship(tx, row))?.id ?? null,
    )
  }
  // After the insert, because one that exists already is a conflict even if the quota is used up.
  const bytes = relationshipBytes(row)
  await quotas.makeRoomForBytes(tx, row.tenant_id, bytes)
  meterStoredBytes(tx, row.tenant_id, bytes)
  return row
}

/**
 * Allowed for the creator of the relationship, the owner of its source memory and org-admins. Other callers are
 * refused, or get not found if they cannot see it.
 */
export async function unrelate(tx: Db, now: number, principal: Principal, sourceId: string, id: string): Promise<void> {
  const source = await requireMemory(tx, principal, sourceId, now)
  const row = isId('relationship', id) ? await lockRelationship(tx, principal.tenantId, sourceId, id) : undefined
  if (!row) throw notFound('relationship', id)
  if (row.created_by !== principal.id && !mayAdminister(principal, source)) {
    // A caller that cannot see the target cannot see the relationship.
    if (!(await findSeenMemory(tx, principal, row.target_memory_id, now))) throw notFound('relationship', id)
    throw ruleBroken(
      'not_owner',
      'Only who made it, the owner of its source memory or an org-admin may delete a relationship',
      {
        relationship_id: id,
      },
    )
  }
  await deleteRelationshipRow(tx, principal.tenantId, id)
  meterStoredBytes(tx, principal.tenantId, -relationshipBytes(row))
}
