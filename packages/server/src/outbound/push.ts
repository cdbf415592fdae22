// Pushing: what is ready in the mailbox of a `push` agent is claimed like a poll would claim it, POSTed to the agent's
// endpoint and settled by the answer.
//
// Nouns: an endpoint is an agent that is pushed to, as this node knows it. A slot is the right to one request under
// way.
//
// 1. A delivery is claimed only when there is a slot for it, with a lease that outlasts the request: what waits stays
//    ready in the mailbox, where a poll or a stream may take it, and uses up no attempt.
// 2. Wake-ups say where something arrived; a scan finds what they missed. Both only mark an endpoint as due.
// 3. One endpoint holds up nobody else (slots.ts), and one that keeps failing is left alone between probes
//    (breaker.ts).
// 4. Every node pushes; exclusive leases share the work out. What is known of an endpoint is each node's own.
import { performance } from 'node:perf_hooks'
import type { Claim, HandedOut } from '../delivery/claim.ts'
import type { PolicyOf } from '../delivery/policy.ts'
import type { Wakeups } from '../delivery/wake.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Secrets } from '../kernel/secrets.ts'
import type { Announcements } from '../store/announce.ts'
import type { Store } from '../store/db.ts'
import {
  healthOf,
  keysOf,
  learn,
  newEndpoint,
  standingOf,
  triedFrom,
  wantedBy,
  type Endpoint,
  type PushHealth,
} from './endpoint.ts'
import { outcomeOf } from './outcome.ts'
import { ANSWER_WITHIN_MS, type Post } from './post.ts'
import { makeOpenSecret, pushTarget, type Target } from './push-secret.ts'
import { makeSettlePush } from './settle-push.ts'
import { signedHeaders } from './signature.ts'
import { makeSlots, STANDINGS, type Grant, type Standing } from './slots.ts'
import { pagePushed, pushedAmong, type PushedAgent } from './sql.ts'

export interface PushTools {
  store: Store
  claim: Claim
  wakeups: Wakeups
  secrets: Secrets
  clock: Clock
  log: Logger
  post: Post
  policyOf: PolicyOf
  announcements: Announcements
  /** How a push went and how long it took. */
  observe(outcome: string, seconds: number): void
}

export interface Push {
  /** Looks for agents with something due that no wake-up told of. */
  runOnce(): Promise<void>
  health(agentId: string): PushHealth
  underWay(): number
  /** How many endpoints are left alone at the moment. */
  open(): number
  /** Claims nothing more, waits a little for what is under way, and gives the rest back. */
  close(): Promise<void>
}

const MAX_SLOTS = 4_096
/** The lease of a push: the time a request may take, and as long again to write down how it went. */
const LEASE_MS = 2 * ANSWER_WITHIN_MS
const MAX_GROUP_SLOTS = 128
/** Bodies under way; a delivery may have a megabyte. */
const MAX_BYTES = 128_000_000
/**
 * Claims under way at once, for each standing by itself: an endpoint that answers must not wait while others are looked
 * up.
 */
const lanesFor = (writers: number) => ({ proven: Math.max(1, writers - 1), new: 1, suspect: 1 })
/**
 * Endpoints claimed for in one transaction, over all writers. In a transaction that has neighbours the others of a group
 * wait for each: on PostgreSQL, with 32 in one, a push took three times as long.
 */
const MAX_GROUP_ENDPOINTS = 32
const SCAN_ROWS = 1_000
const MAX_KNOWN = 50_000
const RING_EVERY_MS = 10
const GRACE_MS = 5_000

export function makePush(tools: PushTools): Push {
  const { store, claim, wakeups, secrets, clock, log, post, observe } = tools
  const stopping = new AbortController()
  const settle = makeSettlePush(store, wakeups, clock, log, tools.policyOf, stopping.signal)
  const openSecret = makeOpenSecret(secrets)
  const slots = makeSlots<Endpoint>(MAX_SLOTS)
  const endpoints = new Map<string, Endpoint>()
  const running = new Set<Promise<void>>()
  const lanes = lanesFor(store.writers)
  const maxEndpoints = Math.ceil(MAX_GROUP_ENDPOINTS / store.writers)
  let scheduled = false
  let cutting = false
  let bytes = 0
  let scanned = ''

  // ---- finding work

  const others = new Set<string>() // recipients that were not pushed to when a wake-up came; the scan finds who became so
  let unknown = new Set<string>()
  let changes = 0

  function endpointOf({ tenant_id, id }: PushedAgent): Endpoint {
    let endpoint = endpoints.get(id)
    if (!endpoint) endpoints.set(id, (endpoint = newEndpoint({ tenantId: tenant_id, recipientId: id })))
    return endpoint
  }

  function markDue(endpoint: Endpoint): void {
    endpoint.due = true
    want(endpoint)
  }

  async function askAboutUnknown(): Promise<void> {
    const ids = [...unknown]
    unknown = new Set()
    const before = changes
    try {
      const pushed = await pushedAmong(store, ids)
      if (others.size > MAX_KNOWN) others.clear()
      // An agent changed while the query ran: its answer may be from before, and is not worth remembering.
      if (changes === before) for (const id of ids) others.add(id)
      for (const agent of pushed) {
        others.delete(agent.id)
        markDue(endpointOf(agent))
      }
    } catch (error) {
      log.debug({ err: error }, 'push: the scan will find it')
    }
  }

  function hear(recipientIds: readonly string[]): void {
    for (const id of recipientIds) {
      const endpoint = endpoints.get(id)
      if (endpoint) markDue(endpoint)
      else if (!others.has(id)) {
        if (unknown.size === 0) setImmediate(askAboutUnknown)
        unknown.add(id)
      }
    }
  }

  // Without names everybody may be meant: the scan comes by within a second anyway.
  wakeups.watch((recipientIds) => {
    if (recipientIds && !stopping.signal.aborted) hear(recipientIds)
  })

  async function runOnce(): Promise<void> {
    const rows = await pagePushed(store, scanned, SCAN_ROWS, clock.now())
    scanned = rows.length < SCAN_ROWS ? '' : rows.at(-1)!.id
    for (const row of rows) {
      others.delete(row.id)
      if (row.due) markDue(endpointOf(row))
    }
    if (endpoints.size > MAX_KNOWN) forgetIdle()
  }

  function forgetIdle(): void {
    for (const [id, endpoint] of endpoints) {
      if (!endpoint.due && endpoint.underWay === 0 && !endpoint.claiming && endpoint.wakeAt === Infinity)
        endpoints.delete(id)
    }
  }

  // ---- waiting by the clock: pauses of the breaker, Retry-After, back-off

  let ringsAt = Infinity
  let alarm = new AbortController()

  function wakeAt(endpoint: Endpoint, at: number): void {
    if (at <= clock.now()) return markDue(endpoint)
    endpoint.wakeAt = Math.min(endpoint.wakeAt, at)
    arm(endpoint.wakeAt)
  }

  function arm(at: number): void {
    if (at >= ringsAt || stopping.signal.aborted) return
    alarm.abort()
    const mine = (alarm = new AbortController())
    ringsAt = at
    void clock.sleep(Math.max(RING_EVERY_MS, at - clock.now()), mine.signal).then(() => {
      if (!mine.signal.aborted) ring()
    })
  }

  function ring(): void {
    ringsAt = Infinity
    let next = Infinity
    for (const endpoint of endpoints.values()) {
      if (endpoint.wakeAt > clock.now()) next = Math.min(next, endpoint.wakeAt)
      else {
        endpoint.wakeAt = Infinity
        markDue(endpoint)
      }
    }
    if (next < Infinity) arm(next)
  }

  // ---- claiming

  function want(endpoint: Endpoint): void {
    if (stopping.signal.aborted || !endpoint.due) return
    const now = clock.now()
    const from = triedFrom(endpoint, now)
    if (from > 0) return wakeAt(endpoint, from)
    if (wantedBy(endpoint, now) < 1) return
    slots.line(endpoint.mailbox.tenantId, standingOf(endpoint), endpoint)
    schedule()
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      for (const standing of STANDINGS) {
        while (lanes[standing] > 0 && bytes < MAX_BYTES && !stopping.signal.aborted) {
          const group = nextGroup(standing)
          if (group.length === 0) break
          track(runLane(standing, group))
        }
      }
    })
  }

  function nextGroup(standing: Standing): Grant<Endpoint>[] {
    const now = clock.now()
    const group: Grant<Endpoint>[] = []
    for (let taken = 0; group.length < maxEndpoints && taken < MAX_GROUP_SLOTS; ) {
      const grant = slots.grant(standing, (endpoint) => Math.min(wantedBy(endpoint, now), MAX_GROUP_SLOTS - taken))
      if (!grant) break
      grant.endpoint.claiming = true
      grant.endpoint.due = false // a wake-up from here on means something more
      taken += grant.count
      group.push(grant)
    }
    return group
  }

  async function runLane(standing: Standing, group: Grant<Endpoint>[]): Promise<void> {
    lanes[standing]--
    try {
      // One order for all groups, so that two of them can wait for each other in one direction only.
      group.sort((a, b) => (a.endpoint.mailbox.recipientId < b.endpoint.mailbox.recipientId ? -1 : 1))
      const wanted = group.map(({ endpoint, count }) => ({ mailbox: endpoint.mailbox, limit: count }))
      const served = await claim.many(wanted, LEASE_MS, (tx, mailbox, now) =>
        pushTarget(tx, secrets, openSecret, mailbox, now),
      )
      group.forEach((grant, i) => begin(grant, served[i]!.admitted, served[i]!.deliveries))
    } catch (error) {
      log.warn({ err: error }, 'push: nothing could be claimed')
      // Nothing is lost: the scan comes by again.
      for (const grant of group) begin(grant, null, [], true)
    } finally {
      lanes[standing]++
      schedule()
    }
  }

  function begin(grant: Grant<Endpoint>, target: Target | null, deliveries: HandedOut[], failed = false): void {
    const { endpoint } = grant
    endpoint.claiming = false
    slots.release(grant, grant.count - deliveries.length)
    endpoint.underWay += deliveries.length
    if (target === null && !failed) {
      const { recipientId } = endpoint.mailbox
      if (endpoints.get(recipientId) === endpoint) endpoints.delete(recipientId)
      // Woken meanwhile: what was read may be from before.
      if (endpoint.due) hear([recipientId])
      return
    }
    if (deliveries.length === grant.count) endpoint.due = true
    for (const delivery of deliveries) track(send(grant, target!, delivery))
    want(endpoint)
  }

  // ---- pushing

  async function send(grant: Grant<Endpoint>, target: Target, delivery: HandedOut): Promise<void> {
    const { endpoint } = grant
    const { mailbox } = endpoint
    bytes += delivery.json.length
    const started = performance.now()
    const headers = signedHeaders(
      delivery.id,
      Math.floor(clock.now() / 1000),
      delivery.json,
      keysOf(endpoint, target.secrets),
    )
    const exchange = await post(target.endpoint, headers, delivery.json)
    const ms = performance.now() - started
    const interrupted = cutting && 'error' in exchange
    const outcome = interrupted ? { kind: 'interrupted' as const } : outcomeOf(exchange, clock.now())
    const settling = settle({ mailbox, delivery, endpoint: target.endpoint, schedule: target.schedule, outcome })
    // Nothing more is claimed for an endpoint that is gone before that is written down.
    if (outcome.kind === 'gone') await settling
    bytes -= delivery.json.length
    endpoint.underWay--
    slots.release(grant, 1)
    if (outcome.kind !== 'interrupted') {
      learn(endpoint, exchange, outcome, ms, clock.now())
      observe(outcome.kind, ms / 1000)
    }
    want(endpoint)
    schedule()
    const dueAt = await settling
    if (outcome.kind === 'gone') wakeups.wake([mailbox.recipientId])
    if (dueAt !== null) wakeAt(endpoint, dueAt)
  }

  function track(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) => log.error({ err: error }, 'push failed unexpectedly'))
      .finally(() => running.delete(tracked))
    running.add(tracked)
  }

  // An agent changed: it may be pushed to from now on, or elsewhere.
  tools.announcements.listen('agent', (agentId) => {
    changes++
    others.delete(agentId)
    hear([agentId])
  })

  return {
    runOnce,
    health: (agentId) => healthOf(endpoints.get(agentId), clock.now()),
    underWay: () => slots.held(),
    open: () => [...endpoints.values()].filter((endpoint) => endpoint.breaker.pausedUntil !== null).length,
    async close() {
      stopping.abort()
      alarm.abort()
      // The machine's time: how long a shutdown takes is not a matter of the product's clock.
      const grace = setTimeout(() => {
        cutting = true
        post.close()
      }, GRACE_MS)
      while (running.size > 0) await Promise.all(running)
      clearTimeout(grace)
      post.close()
    },
  }
}
