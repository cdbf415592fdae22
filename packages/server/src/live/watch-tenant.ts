// Reads what is new in a tenant once a second, for all streams that watch it: the events of all nodes, from the store,
// and the counts that every node writes. While no stream watches, nothing is read.
import { minuteOf, type Activity } from '../activity/activity.ts'
import { ACTIVITY_METRICS, readMinutes, type Counts } from '../activity/sql.ts'
import { readEnvelopes } from '../events/sql.ts'
import type { SummaryRow } from '../events/summaries.ts'
import type { Clock } from '../kernel/clock.ts'
import { STORED_DEPTH } from '../kernel/json.ts'
import { parseBody } from '../kernel/json-steps.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Envelope } from '../routing/filter.ts'
import type { Store } from '../store/db.ts'
import { makeMeasureBacklog, type Backlog } from './backlog.ts'
import { newestSince } from './sql.ts'

/** If there are more events than this in a second, the older ones are not read. */
const MAX_READ = 1_000
/** How far back each look reads again: a transaction that began earlier may commit later. */
const OVERLAP_MS = 2_000
/** How many bytes of envelopes are read for filters in a second: parsed, that may be 30 MB. */
const MAX_ENVELOPE_BYTES = 1_500_000
/** Bytes of short envelopes that are parsed in one turn of the event loop; a long envelope takes many turns. */
const BYTES_A_TURN = 16_384

export interface LiveLook {
  now: number
  /** How many seconds this look covers. */
  seconds: number
  /** Newest first. */
  events: SummaryRow[]
  /** The number of accepted events that were not read because there were too many. */
  unseen: number
  counts: Counts
  backlog: Backlog
}

export interface TenantWatch {
  look(): Promise<LiveLook>
  /** Reads the envelopes of these events in their order, as far as there is room, each once for all streams. */
  envelopes(events: readonly SummaryRow[]): Promise<(event: SummaryRow) => Envelope | undefined>
}

export interface WatchTools {
  store: Store
  clock: Clock
  activity: Activity
}

/** Starts watching: events accepted from now on are new. */
export async function watchTenant({ store, clock, activity }: WatchTools, tenantId: string): Promise<TenantWatch> {
  const measureBacklog = makeMeasureBacklog(store, tenantId)
  /** The next look reads what was accepted since then. */
  let since = clock.now() - OVERLAP_MS
  let lookedAt = clock.elapsed()
  /** Events that earlier looks returned and the next one reads again, with the time they were accepted. */
  let seen = new Map<string, number>()
  await activity.flushEverywhere()
  let minutes = await countsByMinute()
  noteSeen(await newestSince(store, tenantId, since, MAX_READ))

  async function countsByMinute(): Promise<Map<number, Counts>> {
    const rows = await readMinutes(store, tenantId, minuteOf(clock.now()) - 1)
    return new Map(rows.map(({ minute, ...counts }) => [minute, counts]))
  }

  function noteSeen(events: readonly SummaryRow[]): SummaryRow[] {
    const fresh = events.filter(({ id }) => !seen.has(id))
    for (const { id, received_at } of fresh) seen.set(id, received_at)
    seen = new Map([...seen].filter(([, receivedAt]) => receivedAt >= since))
    return fresh
  }

  async function countSince(): Promise<Counts> {
    const before = minutes
    minutes = await countsByMinute()
    const counts: Counts = { events: 0, deliveries: 0, acknowledgements: 0, failures: 0, dead_letters: 0 }
    for (const [minute, known] of minutes)
      for (const name of ACTIVITY_METRICS) counts[name] += known[name] - (before.get(minute)?.[name] ?? 0)
    return counts
  }

  return {
    async look() {
      const now = clock.now()
      const elapsed = clock.elapsed()
      const seconds = Math.round(elapsed - lookedAt) / 1000
      const newest = await newestSince(store, tenantId, since, MAX_READ)
      since = now - OVERLAP_MS
      lookedAt = elapsed
      const events = noteSeen(newest)
      const counts = await countSince()
      const backlog = await measureBacklog(now, counts.deliveries - counts.acknowledgements - counts.dead_letters)
      const isCut = events.length === MAX_READ
      return { now, seconds, events, unseen: isCut ? Math.max(0, counts.events - MAX_READ) : 0, counts, backlog }
    },

    async envelopes(events) {
      let room = MAX_ENVELOPE_BYTES
      const read = events.filter(({ bytes }) => (room -= bytes) >= 0)
      const rows = await readEnvelopes(
        store,
        tenantId,
        read.map(({ id }) => id),
      )
      const parsed = new Map<string, Envelope>()
      let inTurn = 0
      for (const { id, envelope } of rows) {
        if (envelope === null) continue
        // Parsed as when it was published: long numbers exactly, and a long event in steps.
        const one = await parseBody(Buffer.from(envelope), { extraDepth: STORED_DEPTH, exactNumbers: true })
        if (one.ok) parsed.set(id, one.value as Envelope)
        if ((inTurn += envelope.length) < BYTES_A_TURN) continue
        inTurn = 0
        await nextTurn()
      }
      return ({ id }) => parsed.get(id)
    },
  }
}
