// The queries of live streams. They lock nothing.
import { ID_PREFIXES } from '@sensorium/contract'
import { IS_PENDING, STANDING } from '../delivery/standing.ts'
import type { SummaryRow } from '../events/summaries.ts'
import type { Db } from '../store/db.ts'

/** Returns the newest events that a tenant accepted since a moment, newest first. Uses the index of their age. */
export const newestSince = (db: Db, tenantId: string, since: number, limit: number) =>
  db.rows<SummaryRow>(
    `select id, type, source, subject, sender_id, received_at, octet_length(envelope) as bytes from events
      where tenant_id = ? and purged_at is null and received_at >= ? order by received_at desc, place desc, id desc limit ?`,
    [tenantId, since, limit],
  )

interface BacklogPage {
  rows: number
  last: string | null
  waiting: number
  oldest: number | null
  /** Those of the org-admin among them. */
  admin_waiting: number
  admin_oldest: number | null
}

/** Whether the recipient of a row is the org-admin. */
const IS_ADMIN = `substr(recipient_id, 1, ${ID_PREFIXES.org_admin.length + 1}) = '${ID_PREFIXES.org_admin}_'`

/** Returns how many of the tenant's next deliveries wait, and the age of the oldest. Uses the primary key. */
export const pageBacklog = async (
  db: Db,
  tenantId: string,
  after: string,
  limit: number,
  now: number,
): Promise<BacklogPage> => {
  const [page] = await db.rows<BacklogPage>(
    `select count(*) as rows, max(id) as last, cast(coalesce(sum(case when ${IS_PENDING} then 1 else 0 end), 0) as bigint) as waiting,
            min(case when ${IS_PENDING} then created_at end) as oldest,
            cast(coalesce(sum(case when ${IS_PENDING} and ${IS_ADMIN} then 1 else 0 end), 0) as bigint) as admin_waiting,
            min(case when ${IS_PENDING} and ${IS_ADMIN} then created_at end) as admin_oldest
       from (select id, recipient_id, created_at, ${STANDING} as standing from deliveries where tenant_id = ? and id > ? order by id limit ?) as page`,
    [now, tenantId, after, limit],
  )
  return page!
}
