// Searches the events of a tenant. There is no index by type, subject or source: each would be written with every
// event. A search scans the newest retained events instead, a thousand rows without their envelopes in each turn, and
// reports how far back it got.
import { MAX_EVENTS_SEARCHED, type EventSummary } from '@sensorium/contract'
import { iso } from '../kernel/clock.ts'
import type { Pause } from '../kernel/step-turns.ts'
import { compileGlob } from '../routing/glob.ts'
import type { Db } from '../store/db.ts'
import { pageEvents, findListed, type FoundEvent, type EventCursor } from './sql.ts'
import { summarize } from './summaries.ts'

interface EventQuery {
  type?: string
  subject?: string
  source?: string
  id?: string
  sender?: string
  causationid?: string
  since?: string
  until?: string
  offset?: number
  limit?: number
}

interface FoundEvents {
  events: EventSummary[]
  total: number
  searched_back_to: string | null
}

const PAGE = 1_000

type Passes = (event: FoundEvent) => boolean

function passesOf({ type, subject, source, sender, causationid, since, until }: EventQuery): Passes {
  const glob = type === undefined ? null : compileGlob(type)
  const from = since === undefined ? -Infinity : Date.parse(since)
  const to = until === undefined ? Infinity : Date.parse(until)
  return (event) =>
    (glob === null || glob.matches(event.type)) &&
    (subject === undefined || event.subject === subject) &&
    (source === undefined || event.source === source) &&
    (sender === undefined || event.sender_id === sender) &&
    (causationid === undefined || event.causation_id === causationid) &&
    event.received_at >= from &&
    event.received_at <= to
}

/**
 * Returns matching events among the newest, newest first, and when the oldest one scanned was accepted if there are
 * more.
 */
async function lookThrough(
  db: Db,
  tenantId: string,
  { since, until }: EventQuery,
  passes: Passes,
  pause: Pause,
): Promise<{ found: FoundEvent[]; backTo: number | null }> {
  const from = since === undefined ? 0 : Date.parse(since)
  const found: FoundEvent[] = []
  // Before the first place of the millisecond after `until`.
  let before: EventCursor = {
    received_at: until === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(until) + 1,
    place: -1,
    id: '',
  }
  for (let looked = 0; ; ) {
    const rows = await pageEvents(db, tenantId, before, from, PAGE)
    for (const row of rows) if (passes(row)) found.push(row)
    looked += rows.length
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return { found, backTo: null }
    if (looked >= MAX_EVENTS_SEARCHED) return { found, backTo: last.received_at }
    before = last
    await pause() // a long search runs in many short turns
  }
}

export async function searchEvents(db: Db, tenantId: string, query: EventQuery, pause: Pause): Promise<FoundEvents> {
  const { offset = 0, limit = 50, id } = query
  const passes = passesOf(query)
  const { found, backTo } =
    id === undefined
      ? await lookThrough(db, tenantId, query, passes, pause)
      : { found: (await findListed(db, tenantId, id)).filter(passes), backTo: null }
  return {
    events: await summarize(db, tenantId, found.slice(offset, offset + limit), pause),
    total: found.length,
    searched_back_to: backTo === null ? null : iso(backTo),
  }
}
