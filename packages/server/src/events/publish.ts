// Publishing: route → dedupe → deliver, the last two in one transaction that many publishers share.
//
// Nouns: a submission is what one request publishes, one event or a batch. A group is the submissions that share a
// transaction.
//
// 1. A submission gets its response after its events, their deliveries and the record of its response are on disk
//    together.
// 2. Submissions that arrive in the same turn of the event loop, or while another group is under way, form the next
//    group; a lone one waits for nothing, and none for more than 4 ms where there is a lane. One by one PostgreSQL took
//    2,300 events a second, in groups of 50 it takes 20,000.
// 3. An id that was accepted before makes nothing; which event of a group is first is decided by the primary key.
// 4. Tenants take turns in a group, and senders inside a tenant: a flood waits behind itself. Where nodes share a store,
//    a tenant of which nothing is under way does not even share the transaction of a flood, and has a lane when all
//    others are busy.
// 5. What waits is bounded by the work it makes and by time; what its client has given up on is not begun.
import { eachAlone, failedAlone, makeBatches } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import { type Failure, unavailable } from '../kernel/failure.ts'
import type { MakeId } from '../kernel/ids.ts'
import type { Router } from '../routing/router.ts'
import type { Handing, Handover, NewDelivery } from '../delivery/handover.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { StoreUnavailable, type Store } from '../store/db.ts'
import { makeAdmission, MAX_WAIT_MS, workOf } from './admission.ts'
import { clientGone, makeRouteEvents, type RouteEvents } from './route-events.ts'
import type { PublishOutcome, Submission } from './submission.ts'
import { makeWriteGroup, RoutingMoved, type RoutedSubmission } from './write-group.ts'

export type { PublishOutcome, Submission } from './submission.ts'

export type Publish = (submission: Submission) => Promise<PublishOutcome[]>

export interface PublishTools {
  store: Store
  router: Router
  wakeups: Wakeups
  handover: Handover
  makeId: MakeId
  clock: Clock
  /** Told of the deliveries that wait to be polled, once they are on disk. */
  added?: (deliveries: readonly NewDelivery[]) => void
}

/** However small they are: who comes next should not wait for a flood. */
const MAX_GROUP_EVENTS = 200
/** In rows of deliveries, see `workOf`. */
const MAX_GROUP_WORK = 2_000
/**
 * What a group takes by what was measured of late. Where writing is done on this thread, nobody else is heard for so
 * long. Of a store that nodes share four are under way, and a neighbour's waits for one of them and is in the next:
 * with 2,000 rows in each it took 350 to 530 ms beside a flood, with 10 ms in each 183 to 309, with 6 ms 122 to 138.
 */
const MAX_GROUP_MS = { alone: 25, shared: 8 }
/**
 * Beside a transaction under way another begins when this many submissions wait, or when one has waited this long. A
 * transaction has a cost of its own, mostly of waking the other side: an event costs 115 µs in groups of 16 and 47 in
 * groups of 64. Of a few events too: while one of them is on its way the receivers of the one before come back, and are
 * handed the next (handover.ts). With each in a transaction of its own most came too late for that, and at 500 events a
 * second the median from publisher to receiver was 10 ms where it is 6.7.
 */
const BESIDE = { worth: 48, patienceMs: 4 }
const REROUTES = 3

interface Ready extends RoutedSubmission {
  work: number
  /** When it began to wait. */
  since: number
}

type Outcomes = readonly (PublishOutcome[] | Promise<PublishOutcome[]>)[]

/** Writes a group: its events, their deliveries and the records of its responses. */
function makePublishTogether(tools: PublishTools, route: RouteEvents): (group: readonly Ready[]) => Promise<Outcomes> {
  const { store, router, wakeups, handover, makeId, clock, added: tellAdded } = tools
  const writeGroup = makeWriteGroup(router, makeId, clock)

  /** In one transaction; where tenants lie on several machines in one for each tenant, side by side. */
  async function publishTogether(group: readonly Ready[]): Promise<Outcomes> {
    if (!store.isSharded) return publishInOne(group)
    const outcomes = new Map<Ready, PublishOutcome[] | Promise<PublishOutcome[]>>()
    const ofTenants = Map.groupBy(group, ({ submission }) => submission.tenantId)
    await Promise.all(
      Array.from(ofTenants.values(), async (ofTenant) => {
        const published = await publishInOne(ofTenant).catch((error) => ofTenant.map(() => failedAlone(error)))
        for (const [i, ready] of ofTenant.entries()) outcomes.set(ready, published[i]!)
      }),
    )
    return group.map((ready) => outcomes.get(ready)!)
  }

  async function publishInOne(group: readonly Ready[]): Promise<Outcomes> {
    try {
      return await commit(group)
    } catch (error) {
      if (group.length === 1 || error instanceof StoreUnavailable) throw error
      // One submission's trouble (a record that another node wrote first) is not its neighbours': each alone.
      return eachAlone(group, async (ready) => (await commit([ready]))[0]!)
    }
  }

  async function commit(group: readonly Ready[]): Promise<PublishOutcome[][]> {
    for (let tries = 1; ; tries++) {
      let handing: Handing | null = null
      const handOver: Handover['take'] = (...made) => {
        handing?.settle(false) // the store has begun anew
        return (handing = handover.take(...made))
      }
      try {
        const { outcomes, recipients, added } = await store.tx(
          (tx) => writeGroup(tx, group, tries < REROUTES, handOver),
          { tenantIds: group.map(({ submission }) => submission.tenantId) },
        )
        ;(handing as Handing | null)?.settle(true)
        tellAdded?.(added)
        wakeups.wake(recipients, true)
        return outcomes
      } catch (error) {
        ;(handing as Handing | null)?.settle(false)
        if (!(error instanceof RoutingMoved)) throw error
        for (const ready of group) ready.routed = await route(ready.submission)
      }
    }
  }

  return publishTogether
}

export function makePublish(tools: PublishTools): Publish {
  const { store, router, clock } = tools
  const admission = makeAdmission(clock.elapsed)
  const route = makeRouteEvents(router, store)
  const publishTogether = makePublishTogether(tools, route)
  const maxGroupMs = store.isShared ? MAX_GROUP_MS.shared : MAX_GROUP_MS.alone
  const mostWork = (): number => Math.min(MAX_GROUP_WORK, admission.rate * maxGroupMs)
  const batches = makeBatches<Ready, PublishOutcome[]>({
    lanes: store.writers,
    maxItems: MAX_GROUP_EVENTS,
    maxWeight: () => 1,
    weigh: ({ work, submission }) => Math.max(work / mostWork(), submission.events.length / MAX_GROUP_EVENTS),
    beside: BESIDE,
    gather: store.soon,
    whose: ({ submission }) => submission,
    apart: store.isShared,
    run: publishGroup,
  })

  /** Without those whose client has gone, or that have waited for too long. */
  async function publishGroup(taken: readonly Ready[]): Promise<Outcomes> {
    const started = clock.elapsed()
    const tooLate = taken.map(({ submission, since }): Failure | null => {
      if (submission.isGone?.()) return clientGone()
      return started - since > MAX_WAIT_MS ? unavailable('It could not be published in time') : null
    })
    const group = taken.filter((_, i) => tooLate[i] === null)
    const ended = admission.begin(group.reduce((sum, { work }) => sum + work, 0))
    try {
      const outcomes = (group.length > 0 ? await publishTogether(group) : []).values()
      return tooLate.map((failure) => (failure ? failedAlone(failure) : outcomes.next().value!))
    } finally {
      ended()
    }
  }

  return async (submission) => {
    const { tenantId, senderId, events } = submission
    const bytes = events.reduce((sum, event) => sum + event.text.length, 0)
    const place = admission.enter(tenantId, senderId, events.length, bytes)
    try {
      const since = clock.elapsed()
      const found = route(submission)
      const routed = found instanceof Promise ? await found : found
      const deliveries = routed.events.reduce((sum, { matches }) => sum + matches.length, 0)
      const work = workOf(events.length, deliveries, bytes, routed.steps)
      place.revise(work)
      return await batches.add({ submission, routed, work: workOf(events.length, deliveries, bytes, 0), since })
    } finally {
      place.leave()
    }
  }
}
