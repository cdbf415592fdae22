// What this node knows of an endpoint: whether something is due for it, how many requests it may be given, and how it
// has been responding.
import type { KeyObject } from 'node:crypto'
import { isoOrNull } from '../kernel/clock.ts'
import type { Mailbox } from '../delivery/sql.ts'
import { allowance, closed, failed, stateOf, succeeded, type Breaker, type BreakerState } from './breaker.ts'
import type { Exchange, PushOutcome } from './outcome.ts'
import { signingKey } from './signature.ts'
import type { Reputation } from './slots.ts'

/** The most requests under way to one endpoint. It starts with one and earns one more with each success. */
const MAX_WINDOW = 32
/** A Retry-After holds for the whole endpoint, up to this long; a single delivery may wait longer. */
const LONGEST_HOLD_MS = 3_600_000

export interface Endpoint {
  mailbox: Mailbox
  /** Something may be ready in the mailbox. */
  due: boolean
  claiming: boolean
  underWay: number
  window: number
  breaker: Breaker
  heldUntil: number
  /** When the alarm marks the endpoint as due. */
  wakeAt: number
  succeededAt: number | null
  lastStatus: number | null
  lastError: string | null
  latencyMs: number | null
  keys: { secrets: string; keys: KeyObject[] }
}

export interface PushHealth {
  state: BreakerState
  consecutive_failures: number
  last_status: number | null
  last_error: string | null
  last_success_at: string | null
  latency_ms: number | null
}

export const newEndpoint = (mailbox: Mailbox): Endpoint => ({
  mailbox,
  due: false,
  claiming: false,
  underWay: 0,
  window: 1,
  breaker: closed,
  heldUntil: 0,
  wakeAt: Infinity,
  succeededAt: null,
  lastStatus: null,
  lastError: null,
  latencyMs: null,
  keys: { secrets: '', keys: [] },
})

export const reputationOf = ({ breaker, succeededAt, lastError }: Endpoint): Reputation =>
  breaker.failures > 0 || lastError !== null ? 'suspect' : succeededAt === null ? 'new' : 'proven'

/** Returns the time before which nothing may be tried; 0 if it may be tried now. */
export const blockedUntil = ({ heldUntil, breaker }: Endpoint, now: number): number => {
  const from = Math.max(heldUntil, breaker.pausedUntil ?? 0)
  return from > now ? from : 0
}

/**
 * Returns how many more requests the endpoint may be given now. A claim costs the same for one as for many, so it waits
 * until a quarter of the window is free.
 */
export function wantedBy(endpoint: Endpoint, now: number): number {
  if (!endpoint.due || endpoint.claiming || blockedUntil(endpoint, now) > 0) return 0
  const free = allowance(endpoint.breaker, now, endpoint.window) - endpoint.underWay
  return free * 4 < endpoint.window && endpoint.underWay > 0 ? 0 : free
}

/** Updates the endpoint with the outcome of a push. */
export function applyOutcome(
  endpoint: Endpoint,
  exchange: Exchange,
  outcome: PushOutcome,
  ms: number,
  now: number,
): void {
  endpoint.lastStatus = 'status' in exchange ? exchange.status : null
  // A rough mean over the last ten or so, beginning with the first value.
  if ('status' in exchange) endpoint.latencyMs = endpoint.latencyMs === null ? ms : endpoint.latencyMs * 0.9 + ms * 0.1
  if (outcome.kind === 'acknowledged') {
    endpoint.breaker = succeeded()
    endpoint.succeededAt = now
    endpoint.lastError = null
    endpoint.window = Math.min(MAX_WINDOW, endpoint.window + 1)
    return
  }
  endpoint.lastError = outcome.error
  if (outcome.kind === 'later') {
    // The endpoint responds, and says when to come back: that is no failure, but no reason to hurry either.
    endpoint.window = Math.max(1, endpoint.window >> 1)
    endpoint.heldUntil = Math.max(endpoint.heldUntil, now + Math.min(outcome.retryAfterMs, LONGEST_HOLD_MS))
    return
  }
  endpoint.window = 1
  endpoint.breaker = failed(endpoint.breaker, now)
}

/** Returns the keys of these secrets, cached: deriving them again for every push would be wasted work. */
export function keysOf(endpoint: Endpoint, secrets: readonly string[]): KeyObject[] {
  const joined = secrets.join(' ')
  if (endpoint.keys.secrets !== joined) endpoint.keys = { secrets: joined, keys: secrets.map(signingKey) }
  return endpoint.keys.keys
}

export const healthOf = (endpoint: Endpoint | undefined, now: number): PushHealth => ({
  state: stateOf(endpoint?.breaker ?? closed, now),
  consecutive_failures: endpoint?.breaker.failures ?? 0,
  last_status: endpoint?.lastStatus ?? null,
  last_error: endpoint?.lastError ?? null,
  last_success_at: isoOrNull(endpoint?.succeededAt ?? null),
  latency_ms: endpoint?.latencyMs == null ? null : Math.round(endpoint.latencyMs * 10) / 10,
})
