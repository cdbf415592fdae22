// A tenant begins with its org-admin and one org-admin key; the key's plaintext is in this response only.
import type { Tenant } from '@sensorium/contract'
import { createKey, type KeyTools } from '../auth/keys.ts'
import { ALL_SCOPES } from '../auth/principal.ts'
import { iso } from '../kernel/clock.ts'
import { notFound, taken } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { findOrgAdmin, findTenant, insertOrgAdmin, insertTenant, pageTenants, type TenantRow } from './sql.ts'

export interface NewTenant {
  tenant: Tenant
  admin_key: string
}

const shownTenant = (row: TenantRow): Tenant => ({
  id: row.tenant_id,
  slug: row.slug,
  name: row.name,
  created_at: iso(row.created_at),
})

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

export async function createAdminKey(db: Db, tools: KeyTools, slug: string, plaintext?: string): Promise<string> {
  const tenant = await requireTenant(db, slug)
  const admin = await findOrgAdmin(db, tenant.tenant_id)
  if (!admin) throw notFound('tenant', slug)
  const owner = {
    tenantId: tenant.tenant_id,
    type: 'org_admin',
    id: admin.id,
    scopes: ALL_SCOPES,
    expiresAt: null,
  } as const
  return (await createKey(db, tools, owner, plaintext)).key
}

export async function requireTenant(db: Db, slug: string): Promise<TenantRow> {
  const tenant = slug.includes('\0') ? undefined : await findTenant(db, slug)
  if (!tenant) throw notFound('tenant', slug)
  return tenant
}

export async function listTenants(db: Db, offset = 0, limit = 50): Promise<{ tenants: Tenant[]; total: number }> {
  const { rows, total } = await pageTenants(db, offset, limit)
  return { tenants: rows.map(shownTenant), total }
}
