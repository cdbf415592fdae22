// Pushing: what is ready in the mailbox of a `push` agent is claimed as a poll would claim it, POSTed to the agent's
// endpoint and settled by the response.
//
// Nouns: an endpoint is an agent that is pushed to, as this node knows it. A slot is the right to one request under
// way.
//
// 1. A delivery is claimed only when there is a slot for it, with a lease that outlasts the request. What waits stays
//    ready in the mailbox, where a poll or a stream may take it, and uses up no attempt.
// 2. Wake-ups say where something arrived; a scan finds what they missed. Both only mark an endpoint as due
//    (known-endpoints.ts), and so does the clock (alarm.ts). Claims depend on slots (claim-pushes.ts).
// 3. One endpoint holds up nobody else (slots.ts), and one that keeps failing is left alone between probes
//    (breaker.ts).
// 4. Every node pushes; exclusive leases divide the work. Each node has its own knowledge of an endpoint.
import { performance } from 'node:perf_hooks'
import type { Claim } from '../delivery/claim.ts'
import type { LeasedDelivery } from '../delivery/claimed.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { SHORT_LENGTH } from '../kernel/lengths.ts'
import type { Secrets } from '../kernel/secrets.ts'
import { makeStepTurns } from '../kernel/step-turns.ts'
import type { Announcements } from '../store/announce.ts'
import { makeAlarm } from './alarm.ts'
import { makeClaimPushes } from './claim-pushes.ts'
import { applyOutcome, healthOf, keysOf, type Endpoint, type PushHealth } from './endpoint.ts'
import { makeKnownEndpoints } from './known-endpoints.ts'
import { outcomeOf, type PushResult } from './outcome.ts'
import type { Post } from './post.ts'
import type { Target } from './push-secret.ts'
import { makeSettlePush, type Pushed, type SettlePushTools, type Unknown } from './settle-push.ts'
import { signedHeaders } from './signature.ts'
import type { Grant } from './slots.ts'

interface PushTools extends SettlePushTools {
  claim: Claim
  wakeups: Wakeups
  secrets: Secrets
  post: Post
  announcements: Announcements
  /** Called with the outcome of a push and its duration. */
  observe(outcome: string, seconds: number): void
}

export interface Push {
  /** Looks for agents with something due that no wake-up reported. */
  runOnce(): Promise<void>
  health(agentId: string): PushHealth
  underWay(): number
  /** How many endpoints have a breaker that is not closed. */
  pausedEndpoints(): number
  /** Stops claiming, waits a little for what is under way, and releases the rest. */
  close(): Promise<void>
}

const GRACE_MS = 5_000

function whyUnknown(result: PushResult, cutting: boolean): Unknown | null {
  if (!('error' in result)) return null
  if (result.notSent) return { kind: 'not_sent' }
  return cutting || result.isLate ? { kind: 'interrupted', why: result.error } : null
}

export function makePush(tools: PushTools): Push {
  const { store, claim, wakeups, secrets, clock, log, post, observe, announcements } = tools
  const stopping = new AbortController()
  const settle = makeSettlePush(tools, stopping.signal)
  const running = new Set<Promise<void>>()
  let cutting = false
  const longTurns = makeStepTurns()

  function markDue(endpoint: Endpoint): void {
    endpoint.due = true
    claims.want(endpoint)
  }

  const known = makeKnownEndpoints({ store, wakeups, announcements, clock, log, stopping: stopping.signal, markDue })
  const alarm = makeAlarm(clock, known.all, markDue)
  const claims = makeClaimPushes({
    claim,
    secrets,
    clock,
    log,
    writers: store.writers,
    stopping: stopping.signal,
    wakeAt: alarm.wakeAt,
    track,
    send(grant, target, deliveries) {
      for (const delivery of deliveries) track(send(grant, target, delivery))
    },
    forget(endpoint) {
      known.forget(endpoint)
      // A wake-up came meanwhile: what was read may be outdated.
      if (endpoint.due) known.noteArrivals([endpoint.mailbox.recipientId])
    },
  })

  async function send(grant: Grant<Endpoint>, target: Target, delivery: LeasedDelivery): Promise<void> {
    const { endpoint } = grant
    const { mailbox, history } = endpoint
    let outcome: Pushed['outcome']
    let settling: Promise<number | null>
    try {
      // A megabyte takes a millisecond to sign and encode, with each secret, so one is in each turn of the event loop:
      // all of a claimed group at once took 0.2 s.
      if (delivery.json.length > SHORT_LENGTH) await longTurns.take(mailbox.tenantId, mailbox.recipientId)
      const started = performance.now()
      const headers = signedHeaders(
        delivery.id,
        Math.floor(clock.now() / 1000),
        delivery.json,
        keysOf(endpoint, target.secrets),
      )
      const result = await post(target.url, headers, delivery.json, mailbox)
      const ms = performance.now() - started
      outcome = whyUnknown(result, cutting) ?? outcomeOf(result, clock.now())
      settling = settle({ mailbox, delivery, endpoint: target.endpoint, schedule: target.schedule, outcome })
      // For an endpoint that is gone, nothing more is claimed until that is stored.
      if (outcome.kind === 'gone') await settling
      if (outcome.kind !== 'interrupted' && outcome.kind !== 'not_sent') {
        const at = { now: clock.now(), elapsed: clock.elapsed() }
        applyOutcome(history, target.endpoint, result, outcome, ms, at)
        observe(outcome.kind, ms / 1000)
      }
    } finally {
      // Whatever happened: a slot or memory that never comes back would be missing to every tenant.
      history.underWay--
      claims.release(grant, delivery)
      claims.want(endpoint)
      claims.schedule()
    }
    const dueAt = await settling
    if (outcome.kind === 'gone') wakeups.wake([mailbox.recipientId])
    if (dueAt !== null) alarm.wakeAt(endpoint, dueAt)
  }

  function track(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) => log.error({ err: error }, 'push failed unexpectedly'))
      .finally(() => running.delete(tracked))
    running.add(tracked)
  }

  return {
    runOnce: known.scan,
    health: (agentId) => healthOf(known.get(agentId), clock.elapsed()),
    underWay: claims.slotsHeld,
    pausedEndpoints: () => [...known.all()].filter((endpoint) => endpoint.history.breaker.pausedUntil !== null).length,
    async close() {
      stopping.abort()
      alarm.stop()
      // A timer of the machine: the length of a shutdown does not depend on the product's clock.
      const grace = setTimeout(() => {
        cutting = true
        void post.close()
      }, GRACE_MS)
      while (running.size > 0) await Promise.all(running)
      clearTimeout(grace)
      await post.close()
    },
  }
}
