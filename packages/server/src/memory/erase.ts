// Erasure, for org-admins, of deleted and expired memories too. Nothing of the memory stays in its tables: neither its
// versions nor its relationships.
import { isId } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { insufficientScope, notFound } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { meter, STORED_BYTES } from '../tenants/usage.ts'
import type { MemoryTools } from './remember.ts'
import { deleteVersions } from './versions.ts'

export async function eraseMemory(
  tx: Db,
  { now, index }: Pick<MemoryTools, 'now' | 'index'>,
  principal: Principal,
  id: string,
): Promise<void> {
  if (principal.kind !== 'org_admin') throw insufficientScope('org_admin')
  const { tenantId } = principal
  // Deletes a memory of the tenant whatever its status, and returns the bytes of its texts.
  const [erased] = isId('memory', id)
    ? await tx.rows<{ bytes: number }>(
        `delete from memories where tenant_id = ? and id = ?
         returning octet_length(title) + octet_length(content) + octet_length(metadata) as bytes`,
        [tenantId, id],
      )
    : []
  if (!erased) throw notFound('memory', id)
  await index.remove(tx, tenantId, id)
  await deleteVersions(tx, tenantId, id)
  // Each statement deletes rows that belong to the memory.
  await tx.run('delete from memory_relationships where tenant_id = ? and source_memory_id = ?', [tenantId, id])
  await tx.run('delete from memory_relationships where tenant_id = ? and target_memory_id = ?', [tenantId, id])
  await tx.run('delete from memory_imports where tenant_id = ? and memory_id = ?', [tenantId, id])
  meter(tx, now(), [[tenantId, STORED_BYTES, -erased.bytes]])
}
