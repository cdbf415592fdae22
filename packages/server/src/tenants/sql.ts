// The rows of tenants, their org-admins, their settings and their usage.
import { one, type Db, type Insert } from '../store/db.ts'

export interface TenantRow {
  tenant_id: string
  slug: string
  name: string
  created_at: number
}

/** Inserts unless the slug is taken; returns how many rows were written. */
export const insertTenant = (db: Db, row: TenantRow): Promise<number> =>
  db.run('insert into tenants (tenant_id, slug, name, created_at) values (?, ?, ?, ?) on conflict (slug) do nothing', [
    row.tenant_id,
    row.slug,
    row.name,
    row.created_at,
  ])

/** Returns the tenant with that slug. Locks nothing. */
export const findTenant = (db: Db, slug: string) =>
  one<TenantRow>(db, 'select tenant_id, slug, name, created_at from tenants where slug = ?', [slug])

/** Returns a page of all tenants, newest first, and how many there are. Locks nothing. */
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

/** Returns whether there is a tenant. Locks nothing. */
export const isAnyTenant = async (db: Db): Promise<boolean> =>
  (await one(db, 'select 1 as there from tenants limit 1')) !== undefined

/** Returns the ids of all tenants. Locks nothing. */
export const tenantIds = async (db: Db): Promise<string[]> =>
  (await db.rows<{ tenant_id: string }>('select tenant_id from tenants')).map(({ tenant_id }) => tenant_id)

/** Adds the org-admin of a new tenant. */
export const insertOrgAdmin = (db: Db, tenantId: string, id: string, now: number): Promise<number> =>
  db.run('insert into org_admins (tenant_id, id, created_at) values (?, ?, ?)', [tenantId, id, now])

/** Returns the org-admin of a tenant. Locks nothing. */
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

/** Adds amounts to the counts of their days. Locks each count until the transaction ends. */
export const addUsage = (
  db: Db,
  rows: (readonly [tenantId: string, day: string, metric: string, shard: number, amount: number])[],
) => db.insertLater(USAGE, rows)

/** Returns one row per day and metric, the newest days first. */
export const sumUsage = (db: Db, tenantId: string) =>
  db.rows<{ day: string; metric: string; amount: number }>(
    // Cast because PostgreSQL sums bigint into numeric, which would arrive as a text.
    `select day, metric, cast(sum(amount) as bigint) as amount from usage_days where tenant_id = ? and day <> '' group by day, metric order by day desc limit 10000`,
    [tenantId],
  )

/** Returns the next version of any tenant's settings, and locks the counter until the transaction ends. */
export async function nextSettingsVersion(db: Db): Promise<number> {
  const row = await one<{ value: string }>(
    db,
    `insert into settings (name, value) values ('tenant_settings_version', '1')
     on conflict (name) do update set value = cast(cast(settings.value as bigint) + 1 as text) returning value`,
  )
  return Number(row!.value)
}

/** Returns the settings of a tenant, if any were ever set. Locks nothing. */
export const findSettings = (db: Db, tenantId: string) =>
  one<{ settings: string }>(db, 'select settings from tenant_settings where tenant_id = ?', [tenantId])

export interface SettingsRow {
  tenant_id: string
  settings: string
  version: number
}

/** Returns the settings of all tenants from a version on, oldest first. Locks nothing. */
export const readSettingsFrom = (db: Db, version: number) =>
  db.rows<SettingsRow>('select tenant_id, settings, version from tenant_settings where version >= ? order by version', [
    version,
  ])

/** Writes all settings of a tenant, with a version of `nextSettingsVersion`, whose lock keeps other writers out. */
export const saveSettings = (db: Db, tenantId: string, settings: string, version: number) =>
  db.run(
    `insert into tenant_settings (tenant_id, settings, version) values (?, ?, ?)
     on conflict (tenant_id) do update set settings = excluded.settings, version = excluded.version`,
    [tenantId, settings, version],
  )

/** Returns the count of a metric on a day, over all writers. What is stored is counted under the empty day. */
export const sumMetric = async (db: Db, tenantId: string, day: string, metric: string): Promise<number> =>
  (
    await db.lookUp<{ amount: number | null }>(
      'select cast(sum(amount) as bigint) as amount from usage_days where tenant_id = ? and day = ? and metric = ?',
      [tenantId, day, metric],
    )
  )?.amount ?? 0

const COUNTED = {
  agents: 'select count(*) as n from (select 1 from agents where tenant_id = ? limit ?) as counted',
  memories:
    "select count(*) as n from (select 1 from memories where tenant_id = ? and status = 'active' limit ?) as counted",
  feeds: 'select count(*) as n from (select 1 from channel_feeds where tenant_id = ? limit ?) as counted',
  // Already counted for each agent, so there is nothing to stop at.
  interests:
    'select cast(coalesce(sum(interests), 0) as bigint) as n from interest_counts where tenant_id = ? and cast(? as bigint) > 0',
}

/** Returns how many of these a tenant has. All but interests are not counted further than `most`. */
export const countUpTo = async (db: Db, tenantId: string, what: keyof typeof COUNTED, most: number): Promise<number> =>
  (await one<{ n: number }>(db, COUNTED[what], [tenantId, most]))?.n ?? 0
