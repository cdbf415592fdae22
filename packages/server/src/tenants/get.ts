// One tenant by its slug, or not found.
import { notFound } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { findTenant, type TenantRow } from './sql.ts'

export async function requireTenant(db: Db, slug: string): Promise<TenantRow> {
  const tenant = slug.includes('\0') ? undefined : await findTenant(db, slug)
  if (!tenant) throw notFound('tenant', slug)
  return tenant
}
