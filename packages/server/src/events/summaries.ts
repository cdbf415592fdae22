// Events as they are listed and watched: without their payload, but with the beginning of their data and the number of
// their recipients.
import type { EventSummary } from '@sensorium/contract'
import { snippet } from '../kernel/beginning-of.ts'
import { iso } from '../kernel/clock.ts'
import { toText, withExactNumbers } from '../kernel/json.ts'
import type { Pause } from '../kernel/step-turns.ts'
import type { Db } from '../store/db.ts'
import { countDeliveries, readEnvelopes } from './sql.ts'

export interface SummaryRow {
  id: string
  type: string
  source: string
  subject: string | null
  sender_id: string
  received_at: number
  /** The size of the envelope. */
  bytes: number
}

/** A larger envelope is not read for its summary, so that a page of 200 takes 3 MB at most. */
const MAX_READ_BYTES = 16_384
/**
 * The envelopes that are read and parsed in one turn, in bytes. A page of 200 that are not ASCII took 40 ms in one
 * turn.
 */
const READ_IN_TURN = 65_536
const SNIPPET = 200
/** How many deliveries are counted for a page, over all of its events. */
const MAX_COUNTED = 10_000

type Parts = Pick<EventSummary, 'time' | 'snippet'>

function shownParts(envelope: string | null): Parts {
  if (!envelope) return { time: null, snippet: null }
  const { time, data } = withExactNumbers(envelope, JSON.parse(envelope)) as { time?: string; data?: unknown }
  return { time: time ?? null, snippet: data === undefined ? null : snippet(toText(data), SNIPPET) }
}

/** Yields the ids of the events whose envelopes are read, in groups that are read in one turn. */
function* groupsToRead(rows: readonly SummaryRow[]): Generator<string[]> {
  let group: string[] = []
  let room = READ_IN_TURN
  for (const { id, bytes } of rows) {
    if (bytes > MAX_READ_BYTES) continue
    if (bytes > room) {
      yield group
      group = []
      room = READ_IN_TURN
    }
    group.push(id)
    room -= bytes
  }
  if (group.length > 0) yield group
}

/** Reads what is shown of the envelopes, by the ids of their events. */
async function readParts(db: Db, tenantId: string, rows: readonly SummaryRow[], pause: Pause) {
  const parts = new Map<string, Parts>()
  for (const ids of groupsToRead(rows)) {
    if (parts.size > 0) await pause()
    for (const { id, envelope } of await readEnvelopes(db, tenantId, ids)) parts.set(id, shownParts(envelope))
  }
  return parts
}

/** Counts the deliveries of each event; null for every event if there are more than are counted. */
async function recipientsOf(db: Db, tenantId: string, ids: string[]): Promise<(id: string) => number | null> {
  const rows = await countDeliveries(db, tenantId, ids, MAX_COUNTED)
  const counts = new Map<string, number>()
  let counted = 0
  for (const { event_id, n } of rows) {
    counts.set(event_id, (counts.get(event_id) ?? 0) + n)
    counted += n
  }
  // If the count was cut off, the number for any one event may be too small.
  return (id) => (counted >= MAX_COUNTED ? null : (counts.get(id) ?? 0))
}

export async function summarize(
  db: Db,
  tenantId: string,
  rows: readonly SummaryRow[],
  pause: Pause,
): Promise<EventSummary[]> {
  if (rows.length === 0) return []
  const parts = await readParts(db, tenantId, rows, pause)
  const recipients = await recipientsOf(
    db,
    tenantId,
    rows.map(({ id }) => id),
  )
  return rows.map(({ id, type, source, subject, sender_id, received_at }) => ({
    id,
    type,
    source,
    subject,
    ...(parts.get(id) ?? shownParts(null)),
    received_at: iso(received_at),
    sender: sender_id,
    recipients: recipients(id),
  }))
}
