// The org-admin keys of a tenant, as the operator sees them: any number is made, all are listed, and all but the last
// can be revoked.
import type { AdminKey } from '@sensorium/contract'
import { createKey, type KeyTools } from '../auth/keys.ts'
import { ALL_SCOPES } from '../auth/principal.ts'
import { listKeyRows, revokeKeyRow } from '../auth/sql.ts'
import { iso, isoOrNull } from '../kernel/clock.ts'
import { notFound, ruleBroken } from '../kernel/failure.ts'
import type { Announce } from '../store/announce.ts'
import type { Db } from '../store/db.ts'
import { requireTenant } from './get.ts'
import { findOrgAdmin, lockOrgAdmin } from './sql.ts'

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

export async function listAdminKeys(db: Db, slug: string): Promise<AdminKey[]> {
  const { tenant_id } = await requireTenant(db, slug)
  const admin = await findOrgAdmin(db, tenant_id)
  if (!admin) throw notFound('tenant', slug)
  return (await listKeyRows(db, tenant_id, admin.id)).map(({ id, prefix, created_at, last_used_at }) => ({
    id,
    prefix,
    created_at: iso(created_at),
    last_used_at: isoOrNull(last_used_at),
  }))
}

/** Ends the key and its tokens. A tenant keeps one key: without it nobody could administer the tenant any more. */
export async function revokeAdminKey(
  tx: Db,
  announce: Announce,
  slug: string,
  keyId: string,
  now: number,
): Promise<void> {
  const { tenant_id } = await requireTenant(tx, slug)
  // Locks, so that of two concurrent revocations the second counts the keys that the first has left.
  const admin = await lockOrgAdmin(tx, tenant_id)
  if (!admin) throw notFound('tenant', slug)
  const keys = await listKeyRows(tx, tenant_id, admin.id)
  if (!keys.some(({ id }) => id === keyId)) throw notFound('api_key', keyId)
  if (keys.length === 1)
    throw ruleBroken('last_admin_key', 'This is the last org-admin key of the tenant', { key_id: keyId })
  await revokeKeyRow(tx, tenant_id, admin.id, keyId, now)
  announce(tx, 'keys', tenant_id)
}
