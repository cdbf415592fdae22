// Imports a line that is a relationship, between the memories that have the ids of its ends or that its ends became.
import { DEFAULT_STRENGTH, isId, type RelationshipLine, type Static } from '@sensorium/contract'
import type { Principal } from '../../auth/principal.ts'
import { notFound, ruleBroken } from '../../kernel/failure.ts'
import { jsonText } from '../../kernel/json-members.ts'
import type { Db } from '../../store/db.ts'
import { meterStoredBytes } from '../../tenants/usage.ts'
import { requireHead } from '../get.ts'
import type { MemoryTools } from '../remember.ts'
import { holdEnds } from '../relate.ts'
import { mayAdminister } from '../see.ts'
import {
  findSameRelationship,
  insertRelationship,
  lockRelationship,
  type RelationshipRow,
} from '../relationships-sql.ts'
import { relationshipBytes } from '../stored-bytes.ts'
import type { ImportOutcome } from './import-memory.ts'
import { importedAs, saveRelationship, sees } from './sql.ts'

/** Returns the id that an end of the line has here. Throws if the caller sees no such memory. */
async function endOf(tx: Db, principal: Principal, id: string, now: number): Promise<string> {
  if (isId('memory', id) && (await sees(tx, principal, id, now))) return id
  const imported = await importedAs(tx, principal, id)
  if (imported !== undefined && (await sees(tx, principal, imported, now))) return imported
  throw notFound('memory', id)
}

export async function importRelationship(
  tx: Db,
  { makeId, now, quotas }: Pick<MemoryTools, 'makeId' | 'now' | 'quotas'>,
  principal: Principal,
  wanted: Static<typeof RelationshipLine>,
): Promise<ImportOutcome> {
  const at = now()
  const source = await endOf(tx, principal, wanted.source_memory_id, at)
  const target = await endOf(tx, principal, wanted.target_memory_id, at)
  await holdEnds(tx, principal, [source, target], at)
  if (source === target)
    throw ruleBroken('self_relationship', 'A memory has no relationship with itself', { memory_id: source })
  const row: RelationshipRow = {
    tenant_id: principal.tenantId,
    id: makeId('relationship'),
    source_memory_id: source,
    target_memory_id: target,
    relationship_type: wanted.relationship_type,
    strength: wanted.strength ?? DEFAULT_STRENGTH,
    metadata: wanted.metadata ? jsonText(wanted.metadata) : null,
    created_by: principal.id,
    created_at: at,
  }
  const bytes = relationshipBytes(row)
  let same = await findSameRelationship(tx, row)
  if (!same) {
    const giveRoomBack = await quotas.makeRoomForBytes(tx, row.tenant_id, bytes)
    if ((await insertRelationship(tx, row)) > 0) {
      meterStoredBytes(tx, row.tenant_id, bytes)
      return 'created'
    }
    giveRoomBack()
    same = await findSameRelationship(tx, row)
  }
  const found = same && (await lockRelationship(tx, row.tenant_id, source, same.id))
  if (!found || (found.strength === row.strength && found.metadata === row.metadata)) return 'skipped'
  if (found.created_by !== principal.id && !mayAdminister(principal, await requireHead(tx, principal, source, at)))
    return 'skipped'
  const added = bytes - relationshipBytes(found)
  if (added > 0) await quotas.makeRoomForBytes(tx, row.tenant_id, added)
  meterStoredBytes(tx, row.tenant_id, added)
  await saveRelationship(tx, { ...row, id: found.id }, at)
  return 'updated'
}
