// The receipts of an event: to whom it was sent, and how far each delivery got.
import type { Receipt } from '@sensorium/contract'
import { holds, type Principal } from '../auth/principal.ts'
import { iso, isoOrNull } from '../kernel/clock.ts'
import { notFound } from '../kernel/failure.ts'
import { PUBLIC_STATE, standingOf, type DeliveryState } from '../delivery/standing.ts'
import type { Db } from '../store/db.ts'
import { shownMatched } from './matched.ts'
import { findEvent } from './sql.ts'

interface ReceiptRow {
  id: string
  recipient_id: string
  state: DeliveryState | 'acknowledged'
  matched: string
  attempts: number
  due_at: number | null
  wake_at: number | null
  first_attempt_at: number | null
  created_at: number
  acknowledged_at: number | null
  dead_lettered_at: number | null
  dlq_reason: string | null
}

const shown = (row: ReceiptRow, now: number): Receipt => ({
  delivery_id: row.id,
  agent_id: row.recipient_id,
  state: row.state === 'acknowledged' ? 'acknowledged' : PUBLIC_STATE[standingOf({ ...row, state: row.state }, now)],
  attempts: row.attempts,
  matched: shownMatched(row.matched),
  created_at: iso(row.created_at),
  first_attempt_at: isoOrNull(row.first_attempt_at),
  acknowledged_at: isoOrNull(row.acknowledged_at),
  dead_lettered_at: isoOrNull(row.dead_lettered_at),
  dlq_reason: row.dlq_reason,
})

/**
 * Returns the receipts as JSON text, for the publisher and for admins; for any other caller the event does not exist.
 * Lapses must be written before (`writeLapsed`), so that a receipt that says dead-lettered stays true.
 */
export async function readReceipts(
  db: Db,
  caller: Principal,
  eventId: string,
  now: number,
  maySeeChannel: (channelId: string) => Promise<boolean>,
): Promise<string> {
  const event = eventId.includes('\0') ? undefined : await findEvent(db, caller.tenantId, eventId)
  if (!event || !(holds(caller, 'admin') || event.sender_id === caller.id)) throw notFound('event', eventId)
  const rows = await db.rows<ReceiptRow>(
    `select id, recipient_id, state, matched, attempts, due_at, wake_at, first_attempt_at, created_at, null as acknowledged_at, dead_lettered_at, dlq_reason
       from deliveries where tenant_id = ? and event_id = ?
     union all
     select id, recipient_id, 'acknowledged', matched, attempts, null, null, first_attempt_at, created_at, acknowledged_at, null, null
       from acknowledged_deliveries where tenant_id = ? and event_id = ?
      order by recipient_id`,
    [caller.tenantId, eventId, caller.tenantId, eventId],
  )
  const receipts = rows.map((row) => shown(row, now))
  const seen = new Map<string, boolean>()
  for (const { matched } of receipts) {
    for (const [i, { channel_id: channelId }] of matched.entries()) {
      if (channelId === undefined) continue
      if (!seen.has(channelId)) seen.set(channelId, await maySeeChannel(channelId))
      if (!seen.get(channelId)) matched[i] = { kind: 'feed', id: null }
    }
  }
  return `{"event":${event.envelope ?? 'null'},"deliveries":${JSON.stringify(receipts)}}`
}
