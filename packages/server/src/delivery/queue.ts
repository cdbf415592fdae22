// The health of a mailbox, and what its owner acknowledged last.
import { iso, isoOrNull } from '../kernel/clock.ts'
import { memberTexts } from '../kernel/json-members.ts'
import { nextTurn, turnAfter, type Pause } from '../kernel/step-turns.ts'
import { one, type Db } from '../store/db.ts'
import { countDeadLetters } from './list-dead-letters.ts'
import { readEnvelope, shortBytes, shortText, type Item } from './long-payloads.ts'
import { openPages } from './open-deliveries.ts'
import type { Mailbox } from './sql.ts'
import { PUBLIC_STATE, standingOf } from './standing.ts'

export interface QueueHealth {
  pending: number
  leased: number
  dead_lettered: number
  oldest_pending_at: string | null
  last_poll_at: string | null
}

/** Counts the deliveries of a mailbox, in one pass over the open ones that pauses after each page. */
export async function queueHealth(
  db: Db,
  mailbox: Mailbox,
  now: number,
  polledHere: number | null,
  pause: Pause,
): Promise<QueueHealth> {
  const counts = { pending: 0, leased: 0, dead_lettered: 0 }
  let oldest = Infinity
  for await (const page of openPages(db, mailbox, pause)) {
    for (const delivery of page) {
      const state = PUBLIC_STATE[standingOf(delivery, now)]
      counts[state]++
      if (state === 'pending') oldest = Math.min(oldest, delivery.created_at)
    }
  }
  const dead = await countDeadLetters(db, mailbox)
  // When any node last wrote down a poll of the mailbox. Locks nothing.
  const poll = await one<{ last_poll_at: number }>(
    db,
    'select last_poll_at from mailboxes where tenant_id = ? and recipient_id = ?',
    [mailbox.tenantId, mailbox.recipientId],
  )
  return {
    ...counts,
    dead_lettered: counts.dead_lettered + dead,
    oldest_pending_at: isoOrNull(counts.pending > 0 ? oldest : null),
    last_poll_at: isoOrNull(Math.max(poll?.last_poll_at ?? 0, polledHere ?? 0) || null),
  }
}

interface RecentRow {
  id: string
  event_id: string
  acknowledged_at: number
  envelope: string | null
}

/** Returns the events of the latest acknowledgements as JSON, last acknowledged first; a long one is read later. */
export async function recentEvents(db: Db, { tenantId, recipientId }: Mailbox, limit: number): Promise<Item[]> {
  const rows = await db.rows<RecentRow>(
    `select d.id, d.event_id, d.acknowledged_at, ${shortText('e.envelope')} as envelope
       from acknowledged_deliveries d join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ? and d.recipient_id = ? order by d.acknowledged_at desc, d.id desc limit ?`,
    [shortBytes(db, limit), tenantId, recipientId, limit],
  )
  async function readLong(row: RecentRow): Promise<string | undefined> {
    const text = await readEnvelope(db, tenantId, row.event_id)
    return text === undefined ? undefined : recentJson(row, await memberTexts(text, SHOWN_MEMBERS, nextTurn))
  }
  const items: Item[] = []
  const pause = turnAfter(CUT_IN_TURN)
  for (const row of rows) {
    if (row.envelope === null) items.push(() => readLong(row))
    else items.push(recentJson(row, memberTexts(row.envelope, SHOWN_MEMBERS)))
    await pause(row.envelope?.length ?? 0)
  }
  return items
}

/** Characters of envelopes that are cut into their members before others have their turn. */
const CUT_IN_TURN = 65_536

const SHOWN_MEMBERS: ReadonlySet<string> = new Set(['type', 'source', 'subject', 'time', 'data', 'data_base64'])

/** The parts of the envelope are the text that was received, as in a delivery. */
function recentJson(row: RecentRow, texts: ReadonlyMap<string, string>): string {
  const part = (name: string): string => `,"${name}":${texts.get(name) ?? 'null'}`
  const data = ['data', 'data_base64'].find((name) => texts.has(name))
  return (
    `{"event_id":${JSON.stringify(row.event_id)},"delivery_id":"${row.id}"${part('type')}${part('source')}` +
    `${part('subject')}${part('time')}${data === undefined ? '' : part(data)},"acknowledged_at":"${iso(row.acknowledged_at)}"}`
  )
}
