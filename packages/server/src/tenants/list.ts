// Lists the tenants of the installation, newest first.
import type { Tenant } from '@sensorium/contract'
import { iso } from '../kernel/clock.ts'
import type { Db } from '../store/db.ts'
import { pageTenants, type TenantRow } from './sql.ts'

export const shownTenant = (row: TenantRow): Tenant => ({
  id: row.tenant_id,
  slug: row.slug,
  name: row.name,
  created_at: iso(row.created_at),
})

export async function listTenants(db: Db, offset = 0, limit = 50): Promise<{ tenants: Tenant[]; total: number }> {
  const { rows, total } = await pageTenants(db, offset, limit)
  return { tenants: rows.map(shownTenant), total }
}
