// The receipts of an event: who was sent it, and how far each delivery got.
import type { Receipt } from '@sensorium/contract'
import { holds, type Principal } from '../auth/principal.ts'
import { iso, isoOrNull } from '../kernel/clock.ts'
import { notFound } from '../kernel/failure.ts'
import { afterLapse, type DeliveryState } from '../delivery/rules.ts'
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
  last_error: string | null
  created_at: number
  acknowledged_at: number | null
  dead_lettered_at: number | null
  dlq_reason: string | null
}

// A lease that has run out is shown as what the rules make of it, swept or not.
function shown(row: ReceiptRow, now: number, maxAttempts: number): Receipt {
  const lapsed = row.state === 'leased' && row.due_at !== null && row.due_at <= now
  const next = lapsed && row.wake_at !== null ? afterLapse(row, now, maxAttempts) : null
  const dead = next?.state === 'dead_lettered' ? next.reason : null
  return {
    delivery_id: row.id,
    agent_id: row.recipient_id,
    state:
      dead !== null
        ? 'dead_lettered'
        : row.state === 'leased' && !lapsed
          ? 'leased'
          : row.state === 'acknowledged' || row.state === 'dead_lettered'
            ? row.state
            : 'pending',
    attempts: row.attempts,
    matched: shownMatched(row.matched),
    created_at: iso(row.created_at),
    first_attempt_at: isoOrNull(row.first_attempt_at),
    acknowledged_at: isoOrNull(row.acknowledged_at),
    dead_lettered_at: isoOrNull(dead !== null ? row.due_at : row.dead_lettered_at),
    dlq_reason: dead ?? row.dlq_reason,
  }
}

/** For its publisher, and for admins; to anybody else there is no such event. The answer is JSON text. */
export async function readReceipts(
  db: Db,
  caller: Principal,
  eventId: string,
  now: number,
  maxAttempts: number,
  maySeeChannel: (channelId: string) => Promise<boolean>,
): Promise<string> {
  const event = eventId.includes('\0') ? undefined : await findEvent(db, caller.tenantId, eventId)
  if (!event || !(holds(caller, 'admin') || event.sender_id === caller.id)) throw notFound('event', eventId)
  const rows = await db.rows<ReceiptRow>(
    `select id, recipient_id, state, matched, attempts, due_at, wake_at, first_attempt_at, last_error, created_at, null as acknowledged_at, dead_lettered_at, dlq_reason
       from deliveries where tenant_id = ? and event_id = ?
     union all
     select id, recipient_id, 'acknowledged', matched, attempts, null, null, first_attempt_at, null, created_at, acknowledged_at, null, null
       from acknowledged_deliveries where tenant_id = ? and event_id = ?
      order by recipient_id`,
    [caller.tenantId, eventId, caller.tenantId, eventId],
  )
  const receipts = rows.map((row) => shown(row, now, maxAttempts))
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
