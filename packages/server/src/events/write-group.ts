// Writes a group of submissions in one transaction: the events whose ids are new, their deliveries, the counters and
// the records of the responses.
import { performance } from 'node:perf_hooks'
import type { Handover, NewDelivery } from '../delivery/handover.ts'
import { insertDeliveries, insertLeasedDeliveries, ROWS_AT_ONCE } from '../delivery/insert-deliveries.ts'
import type { Clock } from '../kernel/clock.ts'
import type { MakeId } from '../kernel/ids.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import { lockRoutingShared } from '../routing/changes.ts'
import { RoutingMoved, type Router, type Tables } from '../routing/router.ts'
import type { Match } from '../routing/table.ts'
import type { Db } from '../store/db.ts'
import { meter, STORED_BYTES, type Metric } from '../tenants/usage.ts'
import { tooDeep, tooDeepAmong, type Causes } from './causation.ts'
import type { PreparedEvent } from './envelope.ts'
import { addressedAs, TEST_EVENT, textOfMatch } from './matched.ts'
import { routeInSlices, type Routed } from './route-events.ts'
import { insertEvents, type NewEventRow } from './sql.ts'
import type { PublishOutcome, Submission } from './submission.ts'

/** Events whose routing is outdated are routed again in the transaction, unless it took more steps than this. */
const CHEAP_STEPS = 50_000
/** How long that may take for all events of a group together: nobody else is served meanwhile. */
const MOST_MS = 20

export interface RoutedSubmission {
  submission: Submission
  routed: Routed
}

interface WrittenGroup {
  /** The outcomes of each submission, in order. */
  outcomes: PublishOutcome[][]
  /** The recipients whose mailbox has something new that was not handed to a waiting poll. */
  recipients: Set<string>
  /** The deliveries that were put into mailboxes and not handed to a waiting poll. */
  added: readonly NewDelivery[]
}

/**
 * Throws `RoutingMoved` instead of routing costly events again inside the transaction. If the caller `canStartOver`,
 * less counts as costly, and it is thrown instead of reading a whole table too. `handOver` finds the polls that wait
 * for the deliveries. `ahead` is what was read of the chains of causation before.
 */
type WriteGroup = (
  tx: Db,
  group: readonly RoutedSubmission[],
  canStartOver: boolean,
  handOver: Handover['take'],
  ahead: Causes,
) => Promise<WrittenGroup>

export function makeWriteGroup(router: Router, makeId: MakeId, clock: Clock): WriteGroup {
  let lastAt = 0
  let lastPlace = 0
  const placeAt = (now: number): number => {
    lastPlace = now === lastAt ? lastPlace + 1 : 0
    lastAt = now
    return lastPlace
  }

  const write: WriteGroup = async (tx, group, canStartOver, handOver, ahead) => {
    const now = clock.now()
    const submissions = group.map(({ submission }) => submission)
    const tenantIds = [...new Set(submissions.map(({ tenantId }) => tenantId))]
    lockRoutingShared(tx, tenantIds)
    const deep = await tooDeepAmong(tx, group, ahead)
    // Both go out together, the insert first: it may wait for another publish of the same id, and a change of routing
    // that was answered meanwhile holds for these events too.
    const [inserted, tables] = await Promise.all([
      insertEvents(
        tx,
        eventRows(group, deep, now, () => placeAt(now)),
      ),
      router.tables(tx, tenantIds, canStartOver),
    ])
    const fresh = new Set(inserted.map((row) => `${row.tenant_id} ${row.id}`))

    const matched: { event: PreparedEvent; submission: Submission; matches: readonly Match[] }[] = []
    const until = performance.now() + MOST_MS
    const outcomes = group.map((ready) => {
      const { submission } = ready
      const routed = upToDate(ready, tables, canStartOver, until)
      return submission.events.map((event, i): PublishOutcome => {
        const { matches, refused } = routed.events[i]!
        if (refused) return { status: 'refused', failure: refused }
        if (deep.has(event)) return { status: 'refused', failure: tooDeep(event) }
        // The first of two equal ids in a group made the row.
        if (!fresh.delete(`${submission.tenantId} ${event.id}`)) return { status: 'duplicate', eventId: event.id }
        const all = withExtra(matches, submission.extraRecipientId)
        matched.push({ event, submission, matches: all })
        return { status: 'accepted', eventId: event.id, recipients: all.length }
      })
    })
    const deliveries: NewDelivery[] = []
    for (const { event, submission, matches } of matched) {
      for (let at = 0; at < matches.length; at += ROWS_AT_ONCE) {
        if (at > 0) await nextTurn()
        const some = matches.length > ROWS_AT_ONCE ? matches.slice(at, at + ROWS_AT_ONCE) : matches
        for (const match of some) deliveries.push(deliveryOf(event, submission, match, makeId('delivery'), now))
      }
    }
    // A lease begins when a poll is found for it: on a busy PostgreSQL the statements above may have taken a while.
    const { ready, leased } = handOver(deliveries, clock.now(), ({ tenant_id, recipient_id }) =>
      tables.get(tenant_id)!.paused.has(recipient_id),
    )
    await insertDeliveries(tx, ready)
    if (leased.length > 0) await insertLeasedDeliveries(tx, leased)
    meter(tx, now, countsOf(submissions, outcomes))
    for (const [i, { record }] of submissions.entries()) if (record) await record(tx, outcomes[i]!)
    return { outcomes, recipients: new Set(ready.map(({ recipient_id }) => recipient_id)), added: ready }
  }

  /** Returns the recipients by the routing that this transaction sees. */
  function upToDate(ready: RoutedSubmission, tables: Tables, canStartOver: boolean, until: number): Routed {
    const { submission, routed } = ready
    const { tenantId } = submission
    const table = tables.get(tenantId)!
    if (routed.version === table.version && routed.stamp === table.stamp) return routed
    if (canStartOver && (routed.steps > CHEAP_STEPS || submission.events.some(({ isLong }) => isLong)))
      throw new RoutingMoved(tenantId, routed.steps)
    const routing = routeInSlices(table, submission, routed.addressees, router.matching)
    let next = routing.next()
    for (; !next.done; next = routing.next())
      if (performance.now() > until) throw new RoutingMoved(tenantId, routed.steps)
    const found = next.value
    for (const [i, was] of routed.events.entries()) if (was.isSettled) found.events[i] = was
    // The insert has already gone out, with a row for each event that was not refused and none for the others.
    const isMoved = found.events.some(({ refused }, i) => (refused === null) !== (routed.events[i]!.refused === null))
    if (isMoved) throw new RoutingMoved(tenantId, routed.steps)
    return found
  }

  return write
}

const withExtra = (matches: readonly Match[], extraId: string | undefined): readonly Match[] =>
  extraId === undefined || matches.some(({ recipientId }) => recipientId === extraId)
    ? matches
    : [...matches, { recipientId: extraId, priority: 0, enrichment: 'none' as const, matched: [] }]

const deliveryOf = (
  event: PreparedEvent,
  { tenantId, extraRecipientId }: Submission,
  match: Match,
  id: string,
  now: number,
): NewDelivery => ({
  tenant_id: tenantId,
  recipient_id: match.recipientId,
  id,
  event_id: event.id,
  priority: match.priority,
  enrichment: match.enrichment,
  matched: textOfMatch(match, otherReason(match, extraRecipientId)),
  created_at: now,
  envelope: event.text,
})

/** Why the event is delivered, besides the subscriptions that match. */
function otherReason({ recipientId, addressedAs: recipient }: Match, extraId: string | undefined): string | undefined {
  if (recipientId === extraId) return TEST_EVENT
  return recipient === undefined ? undefined : addressedAs(recipient)
}

function eventRows(
  group: readonly RoutedSubmission[],
  deep: ReadonlySet<PreparedEvent>,
  now: number,
  nextPlace: () => number,
): NewEventRow[] {
  const rows = new Map<string, NewEventRow>()
  for (const { submission, routed } of group) {
    const { tenantId, senderId, events } = submission
    for (const [i, event] of events.entries()) {
      const key = `${tenantId} ${event.id}`
      if (routed.events[i]!.refused || deep.has(event) || rows.has(key)) continue
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
  // One order for all groups, so that two that insert the same ids cannot deadlock.
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
