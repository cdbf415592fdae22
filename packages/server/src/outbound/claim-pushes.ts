// Claims deliveries to push, for endpoints that have something due and a slot, several endpoints in one transaction.
import type { Claim } from '../delivery/claim.ts'
import type { LeasedDelivery } from '../delivery/claimed.ts'
import { byMailbox } from '../delivery/sql.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Secrets } from '../kernel/secrets.ts'
import { blockedFor, noteUrl, reputationOf, wantedBy, type Endpoint } from './endpoint.ts'
import { RESPONSE_WITHIN_MS } from './deadlines.ts'
import { makeOpenSecret, pushTarget, type Target } from './push-secret.ts'
import { makeSlots, REPUTATIONS, type Grant, type Reputation } from './slots.ts'

interface ClaimPushesTools {
  claim: Claim
  secrets: Secrets
  clock: Clock
  log: Logger
  /** How many transactions gain from running concurrently. */
  writers: number
  stopping: AbortSignal
  wakeAt(endpoint: Endpoint, at: number): void
  /** Makes a shutdown wait for this work. */
  track(work: Promise<void>): void
  /** Sends the deliveries, each with a slot of the grant. */
  send(grant: Grant<Endpoint>, target: Target, deliveries: readonly LeasedDelivery[]): void
  /** Called when the agent is no longer pushed to. */
  forget(endpoint: Endpoint): void
}

interface ClaimPushes {
  /** Puts an endpoint in line for slots, if it has something due and may be tried now. */
  want(endpoint: Endpoint): void
  /** Releases the slot and the memory of a push that is over. */
  release(grant: Grant<Endpoint>, delivery: LeasedDelivery): void
  /** Claims as much as there are slots and memory for. */
  schedule(): void
  slotsHeld(): number
}

const MAX_SLOTS = 4_096
/** Characters of bodies under way; a delivery may have a million. */
const MAX_CHARACTERS = 128_000_000
/** The lease of a push: the time a request may take, and as long again to store its outcome. */
const LEASE_MS = 2 * RESPONSE_WITHIN_MS
const MAX_GROUP_SLOTS = 128
/**
 * How many claims are under way at once, for each reputation separately: an endpoint that answers must not wait while
 * others are looked up.
 */
const lanesFor = (writers: number) => ({ proven: Math.max(1, writers - 1), new: 1, suspect: 1 })
/**
 * Endpoints claimed for at once, divided among the writers. The endpoints of a transaction wait for each other: on
 * PostgreSQL, with 32 in one transaction beside others, a push took three times as long.
 */
const MAX_GROUP_ENDPOINTS = 32

export function makeClaimPushes(tools: ClaimPushesTools): ClaimPushes {
  const { claim, secrets, clock, log, writers, stopping } = tools
  const openSecret = makeOpenSecret(secrets)
  const slots = makeSlots<Endpoint>(MAX_SLOTS, MAX_CHARACTERS)
  const lanes = lanesFor(writers)
  const maxEndpoints = Math.ceil(MAX_GROUP_ENDPOINTS / writers)
  let scheduled = false

  function want(endpoint: Endpoint): void {
    if (stopping.aborted || !endpoint.due) return
    const elapsed = clock.elapsed()
    const blockedMs = blockedFor(endpoint, elapsed)
    if (blockedMs > 0) return tools.wakeAt(endpoint, clock.now() + blockedMs)
    if (wantedBy(endpoint, elapsed) < 1) return
    slots.line(endpoint.mailbox.tenantId, reputationOf(endpoint), endpoint)
    schedule()
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      for (const reputation of REPUTATIONS) {
        while (lanes[reputation] > 0 && !stopping.aborted) {
          const group = nextGroup(reputation)
          if (group.length === 0) break
          tools.track(runLane(reputation, group))
        }
      }
    })
  }

  function nextGroup(reputation: Reputation): Grant<Endpoint>[] {
    const elapsed = clock.elapsed()
    const group: Grant<Endpoint>[] = []
    for (let taken = 0; group.length < maxEndpoints && taken < MAX_GROUP_SLOTS; ) {
      const grant = slots.grant(reputation, (endpoint) =>
        Math.min(wantedBy(endpoint, elapsed), MAX_GROUP_SLOTS - taken),
      )
      if (!grant) break
      grant.endpoint.claiming = true
      grant.endpoint.due = false // a wake-up from here on means something more
      taken += grant.count
      group.push(grant)
    }
    return group
  }

  async function runLane(reputation: Reputation, group: Grant<Endpoint>[]): Promise<void> {
    lanes[reputation]--
    try {
      group.sort((a, b) => byMailbox(a.endpoint, b.endpoint))
      const wanted = group.map(({ endpoint, count }) => ({ mailbox: endpoint.mailbox, limit: count }))
      const served = await claim.many(wanted, LEASE_MS, (tx, mailbox, now) =>
        pushTarget(tx, secrets, openSecret, mailbox, now),
      )
      group.forEach((grant, i) => begin(grant, served[i]!.admitted, served[i]!.deliveries))
    } catch (error) {
      log.warn({ err: error }, 'push: nothing could be claimed')
      // Nothing is lost: the scan finds it again.
      for (const grant of group) giveUp(grant)
    } finally {
      lanes[reputation]++
      schedule()
    }
  }

  function begin(grant: Grant<Endpoint>, target: Target | null, deliveries: readonly LeasedDelivery[]): void {
    const { endpoint } = grant
    endpoint.claiming = false
    const characters = deliveries.reduce((total, { json }) => total + json.length, 0)
    slots.release(grant, grant.count - deliveries.length, grant.characters - characters)
    if (target === null) return tools.forget(endpoint)
    noteUrl(endpoint, target.endpoint)
    endpoint.history.underWay += deliveries.length
    if (deliveries.length === grant.count) endpoint.due = true
    tools.send(grant, target, deliveries)
    want(endpoint)
  }

  function giveUp(grant: Grant<Endpoint>): void {
    grant.endpoint.claiming = false
    slots.release(grant, grant.count, grant.characters)
    want(grant.endpoint)
  }

  return {
    want,
    schedule,
    release: (grant, { json }) => slots.release(grant, 1, json.length),
    slotsHeld: slots.held,
  }
}
