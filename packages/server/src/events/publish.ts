// Publishing: route → dedupe → deliver, the last two in one transaction that many publishers share.
//
// Nouns: a submission is what one request publishes, one event or a batch. A group is the submissions that share a
// transaction.
//
// 1. A submission gets its response after its events, their deliveries and the record of its response are on disk
//    together. A batch with thousands of deliveries and no record is published in parts, one after the other: in a
//    batch each event stands or falls alone.
// 2. Submissions that arrive in the same turn of the event loop, or while another group is under way, form the next
//    group. A lone submission waits for nothing, and none waits for more than 4 ms while a lane is free. One by one,
//    PostgreSQL took 2,300 events a second; in groups of 50 it takes 20,000.
// 3. An event whose id was accepted before creates nothing. The primary key decides which event of a group is first.
// 4. Tenants take turns in a group, and senders inside a tenant, so that a flood waits behind itself. On a shared
//    store, a tenant that has nothing under way does not even share a transaction with a flood, and gets a lane when
//    all others are busy.
// 5. The backlog is bounded by its work and by time. A submission whose client has disconnected is not begun.
import { failedAlone, makeBatches } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import { type Failure, unavailable } from '../kernel/failure.ts'
import type { MakeId } from '../kernel/ids.ts'
import { REROUTES, RoutingMoved, type Router } from '../routing/router.ts'
import type { Handover, NewDelivery, PendingHandover } from '../delivery/handover.ts'
import type { Wakeups } from '../delivery/wake.ts'
import type { Store } from '../store/db.ts'
import { togetherByTenant, type Results } from '../store/together.ts'
import type { Quotas } from '../tenants/quotas.ts'
import { makeAdmission, MAX_WAIT_MS, workOf } from './admission.ts'
import { hasManyCauses, NONE_KNOWN, readAhead } from './causation.ts'
import { clientGone, makeRouteEvents, type Routed } from './route-events.ts'
import type { PublishOutcome, Submission } from './submission.ts'
import { roomFor, type QuotaRoom } from './within-quota.ts'
import { makeWriteGroup, type RoutedSubmission } from './write-group.ts'

export type Publish = (submission: Submission) => Promise<PublishOutcome[]>

interface PublishTools {
  store: Store
  router: Router
  wakeups: Wakeups
  handover: Handover
  makeId: MakeId
  clock: Clock
  quotas: Quotas
  /** Called with the deliveries that wait to be polled, once they are on disk. */
  added(deliveries: readonly NewDelivery[]): void
}

/** However small the events are, so that the next submission does not wait for a flood. */
const MAX_GROUP_EVENTS = 200
/** In delivery rows, see `workOf`. */
const MAX_GROUP_WORK = 2_000
/**
 * How long a group may take, estimated from the recent rate. Where writing is done on this thread, nobody else is
 * served for that long. On a shared store four groups are under way; another tenant's submission waits for one of them
 * and goes with the next. Beside a flood that took 350 to 530 ms with 2,000 rows in each group, 183 to 309 with 10 ms
 * in each, and 122 to 138 with 6 ms.
 */
const MAX_GROUP_MS = { alone: 25, shared: 8 }
/**
 * While a transaction is under way, another begins when this many submissions wait, or when one has waited this long. A
 * transaction has a cost of its own, mostly for waking the other side: an event costs 115 µs in groups of 16 and 47 in
 * groups of 64. Waiting pays for a few events too: while one is on its way, the receivers of the event before come
 * back, and are handed the next (handover.ts). With a transaction for each event most receivers came too late for that,
 * and at 500 events a second the median from publisher to receiver was 10 ms where it is 6.7.
 */
const WHILE_BUSY = { minWaiting: 48, maxWaitMs: 4 }
/**
 * Deliveries in a part of a batch; an event with more is a part by itself. In one transaction, a hundred events with
 * 3,000 recipients each took PostgreSQL 18 seconds.
 */
const PART_DELIVERIES = 2_000
/** How often the recipients of a submission are found again before it is refused. */
const MOST_REROUTES = 2 * REROUTES

interface Ready extends RoutedSubmission {
  work: number
  /** How often its routing was out of date in the transaction. */
  tries: number
  /** When the submission, its recipients found, began to wait. */
  since: number
}

type Outcomes = Results<PublishOutcome[]>

/** Hands over in one transaction, which the store may begin again. `settle` is called when it has ended. */
function makeHandOver(handover: Handover): { handOver: Handover['take']; settle(isCommitted: boolean): void } {
  let pending: PendingHandover | null = null
  const settle = (isCommitted: boolean): void => pending?.settle(isCommitted)
  return {
    handOver(...made) {
      settle(false) // of the transaction that was begun before
      return (pending = handover.take(...made))
    },
    settle,
  }
}

/**
 * Writes a group: its events, their deliveries and the records of its responses. Those whose routing has moved, and
 * which are as costly as the one that shows it, fail with `RoutingMoved`, and the others are written without them: a
 * tenant that changes its routing all the time, and takes a second to be routed, held up everybody's publishes for
 * five.
 */
function makePublishTogether(tools: PublishTools): (group: readonly Ready[]) => Promise<Outcomes> {
  const { store, router, wakeups, handover, makeId, clock, added: tellAdded } = tools
  const writeGroup = makeWriteGroup(router, makeId, clock)

  async function write(group: readonly Ready[]): Promise<PublishOutcome[][]> {
    // Most groups ask for their transaction in this turn, and so join the next commit.
    const ahead = hasManyCauses(group) ? await readAhead(store, group) : NONE_KNOWN
    const canStartOver = group.every(({ tries }) => tries < REROUTES)
    const { handOver, settle } = makeHandOver(handover)
    try {
      const { outcomes, recipients, added } = await store.tx(
        (tx) => writeGroup(tx, group, canStartOver, handOver, ahead),
        { tenantIds: group.map(tenantOf) },
      )
      settle(true)
      tellAdded(added)
      wakeups.wake(recipients, true)
      return outcomes
    } catch (error) {
      settle(false)
      throw error
    }
  }

  async function commit(group: readonly Ready[]): Promise<Outcomes> {
    try {
      return group.length > 0 ? await write(group) : []
    } catch (error) {
      if (!(error instanceof RoutingMoved)) throw error
      const isMoved = (ready: Ready): boolean => tenantOf(ready) === error.tenantId && ready.routed.steps >= error.steps
      const rest = (await commit(group.filter((ready) => !isMoved(ready)))).values()
      return group.map((ready) => (isMoved(ready) ? failedAlone(error) : rest.next().value!))
    }
  }

  return (group) => togetherByTenant(store, group, tenantOf, commit)
}

const tenantOf = ({ submission }: RoutedSubmission): string => submission.tenantId

export function makePublish(tools: PublishTools): Publish {
  const { store, router, clock, quotas } = tools
  const admission = makeAdmission(clock.elapsed, store.writers)
  const route = makeRouteEvents(router, store)
  const publishTogether = makePublishTogether(tools)
  const maxGroupMs = store.isShared ? MAX_GROUP_MS.shared : MAX_GROUP_MS.alone
  const mostWork = (): number => Math.min(MAX_GROUP_WORK, admission.rate * maxGroupMs)
  const batches = makeBatches<Ready, PublishOutcome[]>({
    lanes: store.writers,
    maxItems: MAX_GROUP_EVENTS,
    maxWeight: () => 1,
    weigh: ({ work, submission }) => Math.max(work / mostWork(), submission.events.length / MAX_GROUP_EVENTS),
    whileBusy: WHILE_BUSY,
    gather: store.beforeNextGroup,
    ownerOf: ({ submission }) => submission,
    apart: store.isShared,
    run: publishGroup,
  })

  /** Fails submissions whose client is gone or that have waited too long, and publishes the others. */
  async function publishGroup(taken: readonly Ready[]): Promise<Outcomes> {
    const started = clock.elapsed()
    const tooLate = taken.map(({ submission, since }): Failure | null => {
      if (submission.isClientGone?.()) return clientGone()
      return started - since > MAX_WAIT_MS ? unavailable('It could not be published in time') : null
    })
    const group = taken.filter((_, i) => tooLate[i] === null)
    const ended = admission.begin(
      group.reduce((sum, { work }) => sum + work, 0),
      new Set(group.map(({ submission }) => submission.tenantId)),
    )
    try {
      const outcomes = (group.length > 0 ? await publishTogether(group) : []).values()
      return tooLate.map((failure) => (failure ? failedAlone(failure) : outcomes.next().value!))
    } finally {
      ended()
    }
  }

  /** Routing that is out of date is found again here, where only its own tenant waits for it. */
  async function publishPart(
    { submission, routed }: RoutedSubmission,
    room: QuotaRoom | null,
  ): Promise<PublishOutcome[]> {
    for (let tries = 0; ; tries++) {
      const work = workOfRouted(submission, routed, 0)
      try {
        return await batches.add({ submission, routed, work, tries, since: clock.elapsed() })
      } catch (error) {
        if (!(error instanceof RoutingMoved)) throw error
        if (tries === MOST_REROUTES) throw unavailable('The interests and feeds of the tenant change all the time')
        const found = await route(submission)
        routed = room ? await room.fit(submission.events, found) : found
      }
    }
  }

  return async (submission) => {
    const { tenantId, senderId, events } = submission
    const admitted = admission.enter(tenantId, senderId, events.length, charactersOf(events))
    const room = roomFor(store, quotas, submission)
    const outcomes: PublishOutcome[] = []
    try {
      const found = route(submission)
      let routed = found instanceof Promise ? await found : found
      if (room) routed = await room.fit(events, routed)
      // What has no room needs no transaction.
      if (routed.events.every(({ refused, isSettled }) => refused && isSettled))
        return routed.events.map(({ refused }) => ({ status: 'refused', failure: refused! }))
      admitted.revise(workOfRouted(submission, routed, routed.steps))
      for (const part of partsOf(submission, routed)) {
        outcomes.push(...(await publishPart(part, room)))
      }
      return outcomes
    } finally {
      room?.end(outcomes)
      admitted.leave()
    }
  }
}

const charactersOf = (events: Submission['events']): number => events.reduce((sum, event) => sum + event.text.length, 0)

function workOfRouted({ events }: Submission, routed: Routed, steps: number): number {
  const deliveries = routed.events.reduce((sum, { matches }) => sum + matches.length, 0)
  const causes = events.reduce((sum, { causationId }) => sum + (causationId === null ? 0 : 1), 0)
  return workOf(events.length, deliveries, charactersOf(events), steps, causes)
}

/**
 * Yields the parts of a submission, nearly always one. A record is written in the transaction of all that it covers.
 */
function* partsOf(submission: Submission, routed: Routed): Generator<RoutedSubmission> {
  const { events, record } = submission
  for (let from = 0, to = 0; from < events.length; from = to) {
    for (let deliveries = 0; to < events.length; to++) {
      deliveries += routed.events[to]!.matches.length
      if (to > from && deliveries > PART_DELIVERIES && !record) break
    }
    yield from === 0 && to === events.length
      ? { submission, routed }
      : {
          submission: { ...submission, events: events.slice(from, to) },
          routed: { ...routed, events: routed.events.slice(from, to) },
        }
  }
}
