// Publishing: route → dedupe → deliver, the last two in one transaction that many publishers share.
//
// Nouns: a submission is what one request publishes, one event or a batch. A group is the submissions that share a
// transaction.
//
// 1. A submission gets its response after its events, their deliveries and the record of its response are on disk together.
// 2. Submissions that arrive in the same turn of the event loop, or while every lane is busy, form the next group; a
//    lone one waits for nothing. One by one PostgreSQL took 2,300 events a second, in groups of 50 it takes 20,000.
// 3. An id that was accepted before makes nothing; which event of a group is first is decided by the primary key.
// 4. Tenants take turns in a group, and senders inside a tenant: a flood waits behind itself.
// 5. What waits is bounded by the work it makes and by time; what its client has given up on is not begun.
import { performance } from 'node:perf_hooks'
import { failedAlone, makeBatches, type Waiting } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import { fairQueue } from '../kernel/fair-queue.ts'
import { type Failure, unavailable } from '../kernel/failure.ts'
import type { MakeId } from '../kernel/ids.ts'
import type { Router, Tables } from '../routing/router.ts'
import { joinRouting } from '../routing/changes.ts'
import type { Match } from '../routing/table.ts'
import { insertDeliveries, type NewDeliveryRow } from '../delivery/sql.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { StoreUnavailable, type Db, type Store } from '../store/db.ts'
import { meter, STORED_BYTES, type Metric } from '../tenants/usage.ts'
import { makeAdmission, MAX_WAIT_MS, workOf } from './admission.ts'
import { ancestorsOf, MAX_ANCESTORS, tooDeep } from './causation.ts'
import type { PreparedEvent } from './envelope.ts'
import { matchedText, TEST_EVENT } from './matched.ts'
import { clientGone, makeRouteEvents, reservedId, routeInSlices, type Routed, type ToRoute } from './route-events.ts'
import { insertEvents, type NewEventRow } from './sql.ts'

export type PublishOutcome =
  | { status: 'accepted'; eventId: string; recipients: number }
  | { status: 'duplicate'; eventId: string }
  | { status: 'refused'; failure: Failure }

export interface Submission extends ToRoute {
  /** Receives the events whatever it is interested in. */
  alsoTo?: string
  /** Writes the record of the response, in the same transaction. */
  record?: (tx: Db, outcomes: PublishOutcome[]) => Promise<void>
}

export type Publish = (submission: Submission) => Promise<PublishOutcome[]>

export interface PublishTools {
  store: Store
  router: Router
  wakeups: Wakeups
  makeId: MakeId
  clock: Clock
}

const MAX_GROUP_SUBMISSIONS = 200
/** In rows of deliveries, see `workOf`. */
const MAX_GROUP_WORK = 2_000
/** Where writing is done on this thread, a group takes no longer than this: for so long nobody else is heard. */
const MAX_GROUP_MS = 25
/** No more than 200 events, however small: who comes next should not wait for a flood. */
const WORK_OF_EVENT_IN_GROUP = MAX_GROUP_WORK / 200
/**
 * Beside a transaction under way another begins when this many submissions wait, or when one has waited this long. A
 * transaction has a cost of its own, mostly of waking the other side: an event costs 115 µs in groups of 16 and 47 in
 * groups of 64. While there are only a few events altogether that cost is nobody's trouble, and none of them waits for
 * another.
 */
const BESIDE = { worth: 48, patienceMs: 4, few: 8 }
/** Routing that changed on the way to the transaction is done again there, unless it took more than this. */
const CHEAP_STEPS = 50_000
const REROUTES = 3

interface Ready {
  submission: Submission
  routed: Routed
  work: number
  /** When it began to wait. */
  since: number
}

/** The routing that decided is out of date, and to decide anew takes too long for a transaction: everything is undone. */
class RoutingMoved extends Error {}

export function makePublish({ store, router, wakeups, makeId, clock }: PublishTools): Publish {
  const admission = makeAdmission()
  const route = makeRouteEvents(router)
  const queue = fairQueue<Waiting<Ready, PublishOutcome[]>>()
  const batches = makeBatches<Ready, PublishOutcome[]>({
    lanes: store.writers,
    maxItems: MAX_GROUP_SUBMISSIONS,
    maxWeight: () => (store.isShared ? MAX_GROUP_WORK : Math.min(MAX_GROUP_WORK, admission.rate * MAX_GROUP_MS)),
    weigh: ({ work, submission }) => Math.max(work, submission.events.length * WORK_OF_EVENT_IN_GROUP),
    beside: BESIDE,
    queue: {
      get size() {
        return queue.size
      },
      push: (waiting) => queue.push(waiting.item.submission.tenantId, waiting.item.submission.senderId, waiting),
      take: queue.take,
    },
    run: publishGroup,
  })

  async function publishGroup(taken: readonly Ready[]): Promise<(PublishOutcome[] | Promise<PublishOutcome[]>)[]> {
    const started = performance.now()
    const late = new Map<Ready, Failure>()
    for (const ready of taken) {
      if (ready.submission.isGone?.()) late.set(ready, clientGone())
      else if (started - ready.since > MAX_WAIT_MS) late.set(ready, unavailable('It could not be published in time'))
    }
    const group = late.size === 0 ? taken : taken.filter((ready) => !late.has(ready))
    const outcomes = new Map<Ready, PublishOutcome[] | Promise<PublishOutcome[]>>()
    for (const [ready, failure] of late) outcomes.set(ready, failedAlone(failure))
    const ended = admission.begin(group.reduce((sum, { work }) => sum + work, 0))
    try {
      if (group.length > 0) await publishTogether(group, outcomes)
    } finally {
      ended()
    }
    return taken.map((ready) => outcomes.get(ready)!)
  }

  async function publishTogether(
    group: readonly Ready[],
    outcomes: Map<Ready, PublishOutcome[] | Promise<PublishOutcome[]>>,
  ): Promise<void> {
    try {
      const published = await commit(group)
      group.forEach((ready, i) => outcomes.set(ready, published[i]!))
    } catch (error) {
      if (group.length === 1 || error instanceof StoreUnavailable) throw error
      // One submission's trouble (a record that another node wrote first) is not its neighbours': each alone.
      for (const ready of group) {
        outcomes.set(ready, await commit([ready]).then(([alone]) => alone!, failedAlone))
      }
    }
  }

  let lastAt = 0
  let lastPlace = 0
  const placeAt = (now: number): number => {
    lastPlace = now === lastAt ? lastPlace + 1 : 0
    lastAt = now
    return lastPlace
  }

  async function commit(group: readonly Ready[]): Promise<PublishOutcome[][]> {
    for (let tries = 1; ; tries++) {
      try {
        const { outcomes, recipients } = await store.tx((tx) => write(tx, group, tries < REROUTES))
        wakeups.wake(recipients)
        return outcomes
      } catch (error) {
        if (!(error instanceof RoutingMoved)) throw error
        for (const ready of group) ready.routed = await route(ready.submission)
      }
    }
  }

  async function write(
    tx: Db,
    group: readonly Ready[],
    mayReroute: boolean,
  ): Promise<{ outcomes: PublishOutcome[][]; recipients: Set<string> }> {
    const now = clock.now()
    const submissions = group.map(({ submission }) => submission)
    const tenantIds = [...new Set(submissions.map(({ tenantId }) => tenantId))]
    joinRouting(tx, tenantIds)
    const ancestors = await ancestorsOf(tx, submissions)
    const [tables, inserted] = await Promise.all([
      router.tables(tx, tenantIds),
      insertEvents(
        tx,
        eventRows(group, ancestors, now, () => placeAt(now)),
      ),
    ])
    const fresh = new Set(inserted.map((row) => `${row.tenant_id} ${row.id}`))

    const deliveries: NewDeliveryRow[] = []
    const recipients = new Set<string>()
    const outcomes = group.map((ready) => {
      const { submission } = ready
      const routed = upToDate(ready, tables, mayReroute)
      return submission.events.map((event, i): PublishOutcome => {
        const { matches, refused } = routed.events[i]!
        if (refused) return { status: 'refused', failure: refused }
        if ((ancestors.get(event) ?? 0) > MAX_ANCESTORS) return { status: 'refused', failure: tooDeep(event) }
        // The first of two equal ids in a group made the row.
        if (!fresh.delete(`${submission.tenantId} ${event.id}`)) return { status: 'duplicate', eventId: event.id }
        const made = deliveriesOf(event, submission, matches, now)
        for (const delivery of made) {
          deliveries.push(delivery)
          recipients.add(delivery.recipient_id)
        }
        return { status: 'accepted', eventId: event.id, recipients: made.length }
      })
    })
    insertDeliveries(tx, deliveries)
    meter(tx, now, countsOf(submissions, outcomes))
    for (const [i, submission] of submissions.entries()) await submission.record?.(tx, outcomes[i]!)
    return { outcomes, recipients }
  }

  /** Who receives it by the routing that this transaction sees. */
  function upToDate({ submission, routed }: Ready, tables: Tables, mayReroute: boolean): Routed {
    const table = tables.get(submission.tenantId)!
    if (routed.version === table.version && routed.stamp === table.stamp) return routed
    // What was refused is not among the rows that went out, and what was not is.
    const isMoved = submission.events.some(
      (event, i) =>
        !submission.isIngested && (reservedId(event, table.sources) !== null) !== (routed.events[i]!.refused !== null),
    )
    if (isMoved || (mayReroute && routed.steps > CHEAP_STEPS)) throw new RoutingMoved()
    const slices = routeInSlices(table, submission, router.matching)
    for (;;) {
      const next = slices.next()
      if (next.done) return next.value
    }
  }

  function deliveriesOf(
    event: PreparedEvent,
    { tenantId, alsoTo }: Submission,
    matches: readonly Match[],
    now: number,
  ): NewDeliveryRow[] {
    const all =
      alsoTo === undefined || matches.some(({ recipientId }) => recipientId === alsoTo)
        ? matches
        : [...matches, { recipientId: alsoTo, priority: 0, enrichment: 'none' as const, matched: [] }]
    return all.map((match) => ({
      tenant_id: tenantId,
      recipient_id: match.recipientId,
      id: makeId('delivery'),
      event_id: event.id,
      priority: match.priority,
      enrichment: match.enrichment,
      matched: match.recipientId === alsoTo ? matchedText(match.matched, TEST_EVENT) : matchedText(match.matched),
      created_at: now,
    }))
  }

  return async (submission) => {
    const { tenantId, senderId, events } = submission
    const bytes = events.reduce((sum, event) => sum + event.text.length, 0)
    const place = admission.enter(tenantId, senderId, events.length, bytes)
    try {
      const since = performance.now()
      const routed = await route(submission)
      const deliveries = routed.events.reduce((sum, { matches }) => sum + matches.length, 0)
      const work = workOf(events.length, deliveries, bytes, routed.steps)
      place.revise(work)
      return await batches.add({ submission, routed, work: workOf(events.length, deliveries, bytes, 0), since })
    } finally {
      place.leave()
    }
  }
}

function eventRows(
  group: readonly Ready[],
  ancestors: ReadonlyMap<PreparedEvent, number>,
  now: number,
  nextPlace: () => number,
): NewEventRow[] {
  const rows = new Map<string, NewEventRow>()
  for (const { submission, routed } of group) {
    const { tenantId, senderId, events } = submission
    for (const [i, event] of events.entries()) {
      const key = `${tenantId} ${event.id}`
      if (routed.events[i]!.refused || (ancestors.get(event) ?? 0) > MAX_ANCESTORS || rows.has(key)) continue
      rows.set(key, {
        tenant_id: tenantId,
        id: event.id,
        type: event.type,
        source: event.source,
        subject: event.subject,
        sender_id: senderId,
        envelope: event.text,
        causation_id: event.causationId,
        received_at: now,
        place: nextPlace(),
      })
    }
  }
  // One order for all groups: two that insert the same ids can then wait for each other in one direction only.
  return rows.size === 1 ? [...rows.values()] : [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

function countsOf(submissions: readonly Submission[], outcomes: PublishOutcome[][]): [string, Metric, number][] {
  const counts = new Map<string, { events: number; deliveries: number; bytes: number }>()
  submissions.forEach(({ tenantId, events }, i) => {
    const count = counts.get(tenantId) ?? { events: 0, deliveries: 0, bytes: 0 }
    counts.set(tenantId, count)
    for (const [j, outcome] of outcomes[i]!.entries()) {
      if (outcome.status !== 'accepted') continue
      count.events++
      count.deliveries += outcome.recipients
      count.bytes += Buffer.byteLength(events[j]!.text)
    }
  })
  return [...counts].flatMap(([tenantId, { events, deliveries, bytes }]): [string, Metric, number][] => [
    [tenantId, 'events', events],
    [tenantId, 'deliveries', deliveries],
    [tenantId, STORED_BYTES, bytes],
  ])
}
