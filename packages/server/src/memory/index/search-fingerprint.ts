// The search fingerprint of a tenant: a string that identifies the state of its memories. While it is unchanged, the
// same search finds the same. It changes with every memory of the tenant, no matter who sees it, and with every
// contradiction.
import { one, type Db } from '../../store/db.ts'
import type { TenantCache } from './tenant-cache.ts'

/** Returns the fingerprint; null if it is unknown because no columns of the tenant are kept. */
export async function searchFingerprintOf(
  db: Db,
  cache: TenantCache | null,
  tenantId: string,
  model: string,
): Promise<string | null> {
  const columns = await cache?.columnsOf(tenantId, model)
  if (!columns) return null
  // The number of contradictions of a tenant, the newest, and how strong they are together. An added one becomes the
  // newest, a removed one lowers the number, and an import that changes the strength of one changes the sum.
  const contradictions = await one<{ many: number; newest: string | null; strength: number | null }>(
    db,
    `select count(*) as many, max(id) as newest, sum(strength) as strength from memory_relationships
      where tenant_id = ? and relationship_type = 'contradicts'`,
    [tenantId],
  )
  const { many, newest, strength } = contradictions!
  return `${columns.name} ${columns.windowChanges} ${many} ${newest ?? ''} ${strength ?? ''}`
}
