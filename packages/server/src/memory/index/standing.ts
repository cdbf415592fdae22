// What the memories of a tenant are at a moment, as a text: while it stays the same, the same search finds the same. It
// changes with every memory of the tenant, whoever sees it, and with every contradiction.
import { one, type Db } from '../../store/db.ts'
import type { TenantCache } from './tenant-cache.ts'

/** Null where nobody can say: no columns of the tenant are kept. */
export async function standingOf(
  db: Db,
  cache: TenantCache | null,
  tenantId: string,
  model: string,
): Promise<string | null> {
  const columns = await cache?.columnsOf(tenantId, model)
  if (!columns) return null
  // How many contradictions a tenant has, and the newest. One that is added is the newest, one that goes is missing.
  const contradictions = await one<{ many: number; newest: string | null }>(
    db,
    `select count(*) as many, max(id) as newest from memory_relationships
      where tenant_id = ? and relationship_type = 'contradicts'`,
    [tenantId],
  )
  return `${columns.name} ${columns.windowChanges} ${contradictions!.many} ${contradictions!.newest ?? ''}`
}
