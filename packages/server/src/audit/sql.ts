// The rows of the audit log.
import { one, type Db, type Value } from '../store/db.ts'
import type { Aging } from '../store/purge.ts'

export interface AuditRow {
  tenant_id: string
  at: number
  id: string
  actor: string
  action: string
  resource: string | null
  request_id: string | null
  /** JSON text. */
  details: string
}

const COLUMNS = 'tenant_id, at, id, actor, action, resource, request_id, details'

/** Entries of earlier releases may have a megabyte of details. A thousand delivery ids have 34,000 bytes. */
const LONGEST_READ = 40_000

/** Adds an entry, which commits with the change that it describes. */
export const insertEntry = (tx: Db, row: AuditRow): void =>
  tx.runLater(`insert into audit_entries (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)`, [
    row.tenant_id,
    row.at,
    row.id,
    row.actor,
    row.action,
    row.resource,
    row.request_id,
    row.details,
  ])

export interface AuditQuery {
  actor?: string
  action?: string
  since?: string
  until?: string
  offset?: number
  limit?: number
}

/** An entry as it is read. `details` is null if it is longer than LONGEST_READ. */
export type ReadRow = Omit<AuditRow, 'tenant_id' | 'details'> & { details: string | null }

/** Returns a page of the entries of a tenant, newest first, and how many there are. Long details are not read. */
export async function pageEntries(
  db: Db,
  tenantId: string,
  { actor, action, since, until, offset = 0, limit = 50 }: AuditQuery,
): Promise<{ rows: ReadRow[]; total: number }> {
  const conditions: [string, Value | undefined][] = [
    ['tenant_id = ?', tenantId],
    ['actor = ?', actor],
    ['action = ?', action],
    ['at >= ?', since === undefined ? undefined : Date.parse(since)],
    ['at <= ?', until === undefined ? undefined : Date.parse(until)],
  ]
  const given = conditions.filter((pair): pair is [string, Value] => pair[1] !== undefined)
  const where = given.map(([condition]) => condition).join(' and ')
  const values = given.map(([, value]) => value)
  const rows = await db.rows<ReadRow>(
    `select at, id, actor, action, resource, request_id,
            case when octet_length(details) <= ${LONGEST_READ} then details end as details
     from audit_entries where ${where} order by at desc, id desc limit ? offset ?`,
    [...values, limit, offset],
  )
  const count = await one<{ n: number }>(db, `select count(*) as n from audit_entries where ${where}`, values)
  return { rows, total: count?.n ?? 0 }
}

/** How a purge finds old entries. */
export const AGING_ENTRIES: Aging = { table: 'audit_entries', key: ['at', 'id'], age: 'at' }

/**
 * Returns the tenant that a slug, a webhook or a connector belongs to, found by a key that is unique over all tenants.
 */
export async function tenantOf(
  db: Db,
  by: 'tenants' | 'webhooks' | 'connectors',
  name: string,
): Promise<string | null> {
  if (name.includes('\0')) return null // PostgreSQL allows no NUL in a text
  const column = by === 'tenants' ? 'slug' : 'id'
  const row = await one<{ tenant_id: string }>(db, `select tenant_id from ${by} where ${column} = ?`, [name])
  return row?.tenant_id ?? null
}
