// A tenant begins with its org-admin and one org-admin key; the key's plaintext is in this response only.
import type { Tenant } from '@sensorium/contract'
import type { KeyTools } from '../auth/keys.ts'
import { taken } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { createAdminKey } from './admin-keys.ts'
import { shownTenant } from './list.ts'
import { findTenant, insertOrgAdmin, insertTenant, type TenantRow } from './sql.ts'

interface NewTenant {
  tenant: Tenant
  admin_key: string
}

export async function createTenant(
  db: Db,
  tools: KeyTools,
  slug: string,
  name = slug,
  adminKey?: string,
): Promise<NewTenant> {
  const row: TenantRow = { tenant_id: tools.makeId('tenant'), slug, name, created_at: tools.now() }
  if ((await insertTenant(db, row)) === 0)
    throw taken(`The slug ${slug}`, (await findTenant(db, slug))?.tenant_id ?? null)
  await insertOrgAdmin(db, row.tenant_id, tools.makeId('org_admin'), row.created_at)
  return { tenant: shownTenant(row), admin_key: await createAdminKey(db, tools, slug, adminKey) }
}
