// Erasure, for org-admins, of deleted and expired memories too. Nothing of the memory stays in its tables: neither its
// versions nor its relationships.
import { isId } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { insufficientScope, notFound, onlyFailure } from '../kernel/failure.ts'
import type { Db, Store } from '../store/db.ts'
import { meterStoredBytes } from '../tenants/usage.ts'
import { forgetMemory } from './forget.ts'
import { discardErased, eraseMetadata } from './discard-metadata.ts'
import type { LeftMetadata } from './long-metadata.ts'
import type { MemoryTools } from './remember.ts'
import { bytesOf } from './sql.ts'
import { RELATIONSHIP_BYTES, sumOfBytes } from './stored-bytes.ts'
import { deleteVersions } from './versions.ts'

/** Relationships deleted in one transaction, in some milliseconds. 48,000 at once held up everybody for 0.9 s. */
const STEP = 200

const ENDS = ['source_memory_id', 'target_memory_id'] as const

/**
 * Deletes a memory that is about to be erased, and then its relationships, in steps with a transaction each. If the
 * service ends in between, it is a deleted memory with those that are left, and can be erased.
 */
export async function beginErasure(
  store: Store,
  tools: Pick<MemoryTools, 'now' | 'index'>,
  principal: Principal,
  id: string,
): Promise<void> {
  if (principal.kind !== 'org_admin') throw insufficientScope('org_admin')
  // First of all, so that nobody merges it: its relationships would move while they are deleted here. It may be deleted
  // or expired already, or not exist.
  await store.tx((tx) => forgetMemory(tx, tools, principal, id), { caller: principal }).catch(onlyFailure)
  const { inRows, skipLocked } = store.dialect
  for (const end of ENDS) {
    // Deletes some relationships of a memory, except those that another transaction has locked.
    const deleteFew = `with few as (select id from memory_relationships where tenant_id = ? and ${end} = ? limit ${STEP} ${skipLocked})
      delete from memory_relationships where tenant_id = ? and ${inRows('id', 'select id from few')}
      returning ${RELATIONSHIP_BYTES} as bytes`
    const step = async (tx: Db): Promise<number> => {
      const deleted = await tx.rows<{ bytes: number }>(deleteFew, [principal.tenantId, id, principal.tenantId])
      meterStoredBytes(tx, principal.tenantId, -sumOfBytes(deleted))
      return deleted.length
    }
    while ((await store.tx(step, { caller: principal })) === STEP);
  }
}

/** Erases a memory and the relationships that it still has: few, once `beginErasure` has been called. */
export async function eraseMemory(
  tx: Db,
  { index }: Pick<MemoryTools, 'index'>,
  principal: Principal,
  id: string,
): Promise<void> {
  if (principal.kind !== 'org_admin') throw insufficientScope('org_admin')
  const { tenantId } = principal
  // Deletes a memory of the tenant whatever its status, and returns the bytes of its texts.
  const [erased] = isId('memory', id)
    ? await tx.rows<LeftMetadata & { bytes: number }>(
        `delete from memories where tenant_id = ? and id = ? returning ${bytesOf()} as bytes, metadata_id, metadata_bytes`,
        [tenantId, id],
      )
    : []
  if (!erased) throw notFound('memory', id)
  await index.remove(tx, tenantId, id)
  await eraseMetadata(tx, { tenant_id: tenantId, id }, [erased, ...(await deleteVersions(tx, tenantId, id))])
  // Each statement deletes rows that belong to the memory.
  let bytes = erased.bytes
  for (const end of ENDS)
    bytes += sumOfBytes(
      await tx.rows<{ bytes: number }>(
        `delete from memory_relationships where tenant_id = ? and ${end} = ? returning ${RELATIONSHIP_BYTES} as bytes`,
        [tenantId, id],
      ),
    )
  await tx.run('delete from memory_imports where tenant_id = ? and memory_id = ?', [tenantId, id])
  meterStoredBytes(tx, tenantId, -bytes)
}

/** Deletes what an erasure left, if it was one. If the store is away, the sweep does it. */
export const endErasure = (store: Store, { tenantId }: Principal, id: string): Promise<void> =>
  discardErased(store, tenantId, id).catch(() => {})
