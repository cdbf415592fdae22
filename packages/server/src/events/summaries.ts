// Events as they are listed and watched: without their payload, but with the beginning of their data and the number of
// their recipients.
import type { EventSummary } from '@sensorium/contract'
import { snippet } from '../kernel/beginning-of.ts'
import { iso } from '../kernel/clock.ts'
import { toText, withExactNumbers } from '../kernel/json.ts'
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
const SNIPPET = 200
/** How many deliveries are counted for a page, over all of its events. */
const MAX_COUNTED = 10_000

function shownParts(envelope: string | null | undefined): Pick<EventSummary, 'time' | 'snippet'> {
  if (!envelope) return { time: null, snippet: null }
  const { time, data } = withExactNumbers(envelope, JSON.parse(envelope)) as { time?: string; data?: unknown }
  return { time: time ?? null, snippet: data === undefined ? null : snippet(toText(data), SNIPPET) }
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

export async function summarize(db: Db, tenantId: string, rows: readonly SummaryRow[]): Promise<EventSummary[]> {
  if (rows.length === 0) return []
  const small = rows.filter(({ bytes }) => bytes <= MAX_READ_BYTES).map(({ id }) => id)
  const envelopes = new Map((await readEnvelopes(db, tenantId, small)).map(({ id, envelope }) => [id, envelope]))
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
    ...shownParts(envelopes.get(id)),
    received_at: iso(received_at),
    sender: sender_id,
    recipients: recipients(id),
  }))
}
