// The receipts of an event: to whom it was sent, and how far each delivery got.
import type { Receipt } from '@sensorium/contract'
import { holds, type Principal } from '../auth/principal.ts'
import { iso, isoOrNull } from '../kernel/clock.ts'
import { notFound } from '../kernel/failure.ts'
import type { SentBody } from '../kernel/json-body.ts'
import { PAGE, pagesOf } from '../kernel/row-pages.ts'
import { readSentEnvelope } from '../delivery/long-payloads.ts'
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
  last_error: string | null
}

function shown(row: ReceiptRow, now: number): Receipt {
  const state = row.state === 'acknowledged' ? row.state : PUBLIC_STATE[standingOf({ ...row, state: row.state }, now)]
  const isOpen = state === 'pending' || state === 'leased'
  return {
    delivery_id: row.id,
    agent_id: row.recipient_id,
    state,
    attempts: row.attempts,
    matched: shownMatched(row.matched),
    created_at: iso(row.created_at),
    first_attempt_at: isoOrNull(row.first_attempt_at),
    acknowledged_at: isoOrNull(row.acknowledged_at),
    dead_lettered_at: isoOrNull(row.dead_lettered_at),
    dlq_reason: row.dlq_reason,
    last_error: isOpen ? row.last_error : null,
    next_attempt_at: state === 'pending' && row.due_at !== null && row.due_at > now ? iso(row.due_at) : null,
  }
}

/**
 * A page of the deliveries of an event, by recipient, after a recipient. Each half has the limit too: otherwise
 * PostgreSQL sorts all that is left for every page. Locks nothing.
 */
export function pageReceipts(db: Db, tenantId: string, eventId: string, after: string, limit: number) {
  const values = [tenantId, eventId, after, limit]
  const half = (columns: string, table: string): string =>
    `select id, recipient_id, matched, attempts, first_attempt_at, created_at, ${columns}
       from (select * from ${table} where tenant_id = ? and event_id = ? and recipient_id > ? order by recipient_id limit ?) as page`
  return db.rows<ReceiptRow>(
    `${half('state, due_at, wake_at, null as acknowledged_at, dead_lettered_at, dlq_reason, last_error', 'deliveries')}
     union all
     ${half("'acknowledged', null, null, acknowledged_at, null, null, null", 'acknowledged_deliveries')}
     order by recipient_id limit ?`,
    [...values, ...values, limit],
  )
}

/** Replaces the channels that the caller may not see. */
async function hideChannels(
  receipts: readonly Receipt[],
  maySeeChannel: (channelId: string) => Promise<boolean>,
): Promise<void> {
  for (const { matched } of receipts)
    for (const [i, { channel_id: channelId }] of matched.entries())
      if (channelId !== undefined && !(await maySeeChannel(channelId))) matched[i] = { kind: 'feed', id: null }
}

/**
 * Returns the receipts, for the publisher and for admins; for any other caller the event does not exist. A long event,
 * and the receipts of many recipients a page at a time, are read as the response is taken. Lapses must be written
 * before (`writeLapsed`), so that a receipt that says dead-lettered stays true.
 */
export async function readReceipts(
  db: Db,
  caller: Principal,
  eventId: string,
  now: number,
  maySeeChannel: (channelId: string) => Promise<boolean>,
): Promise<SentBody> {
  const event = eventId.includes('\0') ? undefined : await findEvent(db, caller.tenantId, eventId)
  if (!event || !(holds(caller, 'admin') || event.sender_id === caller.id)) throw notFound('event', eventId)
  async function textOf(rows: readonly ReceiptRow[]): Promise<string> {
    const receipts = rows.map((row) => shown(row, now))
    await hideChannels(receipts, maySeeChannel)
    return receipts.map((receipt) => JSON.stringify(receipt)).join(',')
  }
  const pages = pagesOf<ReceiptRow>((last, most) =>
    pageReceipts(db, caller.tenantId, eventId, last?.recipient_id ?? '', most),
  )
  const first = await pages.next()
  const rows = first.done ? [] : first.value
  const receipts = `,"deliveries":[${await textOf(rows)}`
  const isShort = event.bytes === null || event.envelope !== null
  if (isShort && rows.length < PAGE) return { text: `{"event":${event.envelope}${receipts}]}` }

  async function* pieces(): AsyncGenerator<string | Uint8Array> {
    yield '{"event":'
    yield (isShort ? event!.envelope : await readSentEnvelope(db, caller.tenantId, eventId)) ?? 'null'
    yield receipts
    for await (const page of pages) yield `,${await textOf(page)}`
    yield ']}'
  }
  return { pieces: pieces() }
}
