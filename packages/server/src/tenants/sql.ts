// Tenants, their org-admin, and what they used.
import { one, type Db, type Insert } from '../store/db.ts'

export interface TenantRow {
  tenant_id: string
  slug: string
  name: string
  created_at: number
}

/** Inserts unless the slug is taken; answers how many rows were written. */
export const insertTenant = (db: Db, row: TenantRow): Promise<number> =>
  db.run('insert into tenants (tenant_id, slug, name, created_at) values (?, ?, ?, ?) on conflict (slug) do nothing', [
    row.tenant_id,
    row.slug,
    row.name,
    row.created_at,
  ])

export const findTenant = (db: Db, slug: string) =>
  one<TenantRow>(db, 'select tenant_id, slug, name, created_at from tenants where slug = ?', [slug])

/** The slug of a tenant that exists. */
export const slugOfTenant = async (db: Db, tenantId: string): Promise<string> =>
  (await one<{ slug: string }>(db, 'select slug from tenants where tenant_id = ?', [tenantId]))!.slug

export async function pageTenants(
  db: Db,
  offset: number,
  limit: number,
): Promise<{ rows: TenantRow[]; total: number }> {
  const rows = await db.rows<TenantRow>(
    'select tenant_id, slug, name, created_at from tenants order by tenant_id desc limit ? offset ?',
    [limit, offset],
  )
  const count = await one<{ n: number }>(db, 'select count(*) as n from tenants')
  return { rows, total: count?.n ?? 0 }
}

export const insertOrgAdmin = (db: Db, tenantId: string, id: string, now: number): Promise<number> =>
  db.run('insert into org_admins (tenant_id, id, created_at) values (?, ?, ?)', [tenantId, id, now])

export const findOrgAdmin = (db: Db, tenantId: string) =>
  one<{ id: string }>(db, 'select id from org_admins where tenant_id = ?', [tenantId])

/** Locks the org-admin's row until the transaction ends. */
export const lockOrgAdmin = (db: Db, tenantId: string) =>
  one<{ id: string }>(db, `select id from org_admins where tenant_id = ? ${db.dialect.forUpdate}`, [tenantId])

const USAGE: Insert = {
  into: 'usage_days',
  columns: { tenant_id: 'text', day: 'text', metric: 'text', shard: 'integer', amount: 'bigint' },
  conflict: 'on conflict (tenant_id, day, metric, shard) do update set amount = usage_days.amount + excluded.amount',
}

export const addUsage = (
  db: Db,
  rows: (readonly [tenantId: string, day: string, metric: string, shard: number, amount: number])[],
) => db.insertLater(USAGE, rows)

/** The newest days first, one row per day and metric. */
export const sumUsage = (db: Db, tenantId: string) =>
  db.rows<{ day: string; metric: string; amount: number }>(
    // The cast: PostgreSQL sums bigint into numeric, which would arrive as a text.
    `select day, metric, cast(sum(amount) as bigint) as amount from usage_days where tenant_id = ? group by day, metric order by day desc limit 10000`,
    [tenantId],
  )
