// The rows of the audit log.
import { one, type Db, type Value } from '../store/db.ts'
import type { Aging } from '../store/purge.ts'

interface AuditRow {
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

/** An entry as it is read. */
export type ReadRow = Omit<AuditRow, 'tenant_id'>

/** Which entries a query is about: those that an index leads to, and a second filter that only looks at each. */
interface Walk {
  where: string
  values: readonly Value[]
  /** Null is the key of the table, which has all entries of the tenant in their order. */
  index: string | null
  /** The action, if the index is the one by actor. */
  action: string | null
}

/** How far a walk through the log has come. */
export type EntryCursor = Pick<AuditRow, 'at' | 'id'>

export function walkOf(tenantId: string, { actor, action, since, until }: AuditQuery): Walk {
  const conditions: [string, Value | undefined][] = [
    ['tenant_id = ?', tenantId],
    ['actor = ?', actor],
    ['action = ?', actor === undefined ? action : undefined],
    ['at >= ?', since === undefined ? undefined : Date.parse(since)],
    ['at <= ?', until === undefined ? undefined : Date.parse(until)],
  ]
  const given = conditions.filter((pair): pair is [string, Value] => pair[1] !== undefined)
  return {
    where: given.map(([condition]) => condition).join(' and '),
    values: given.map(([, value]) => value),
    index: actor !== undefined ? 'audit_entries_by_actor' : action !== undefined ? 'audit_entries_by_action' : null,
    action: actor === undefined ? null : (action ?? null),
  }
}

const before = (
  { dialect }: Db,
  { where, values, index }: Walk,
  last: EntryCursor | null,
): { from: string; values: readonly Value[] } => ({
  from: `from audit_entries ${index === null ? '' : dialect.byIndex(index)} where ${where}${last === null ? '' : ' and (at, id) < (?, ?)'}`,
  values: last === null ? values : [...values, last.at, last.id],
})

/** Returns how many of the next `most` entries that follow `last` there are, and how many of these have the action. */
export async function countEntries(
  db: Db,
  walk: Walk,
  last: EntryCursor | null,
  most: number,
): Promise<{ read: number; found: number }> {
  const { from, values } = before(db, walk, last)
  const isFound = walk.action === null ? '' : ', sum(case when action = ? then 1 else 0 end) as found'
  const counted = await one<{ n: number; found?: number | null }>(
    db,
    `select count(*) as n${isFound} from (select action ${from} order by at desc, id desc limit ?) as entries`,
    [...(walk.action === null ? [] : [walk.action]), ...values, most],
  )
  const read = counted?.n ?? 0
  return { read, found: walk.action === null ? read : (counted?.found ?? 0) }
}

/** Returns the place of the entry that is the `nth` after `last`. */
export const cursorAfter = (
  db: Db,
  walk: Walk,
  last: EntryCursor | null,
  nth: number,
): Promise<EntryCursor | undefined> => {
  const { from, values } = before(db, walk, last)
  return one<EntryCursor>(db, `select at, id ${from} order by at desc, id desc limit 1 offset ?`, [...values, nth - 1])
}

/** Returns up to `most` of the next entries that follow `last`, newest first, without the first `skipped`. */
export const readEntries = (
  db: Db,
  walk: Walk,
  last: EntryCursor | null,
  skipped: number,
  most: number,
): Promise<ReadRow[]> => {
  const { from, values } = before(db, walk, last)
  return db.rows<ReadRow>(
    `select at, id, actor, action, resource, request_id, details
     ${from}${walk.action === null ? '' : ' and action = ?'} order by at desc, id desc limit ? offset ?`,
    [...values, ...(walk.action === null ? [] : [walk.action]), most, skipped],
  )
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
