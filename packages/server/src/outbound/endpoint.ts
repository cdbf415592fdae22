// What this node knows of an endpoint: whether something is due for it, how many requests it may be given, and how it
// has been responding.
import type { KeyObject } from 'node:crypto'
import { isoOrNull } from '../kernel/clock.ts'
import type { Mailbox } from '../delivery/sql.ts'
import {
  allowance,
  closed,
  failed,
  OPENS_AFTER,
  OPENS_AFTER_HANDSHAKES,
  stateOf,
  succeeded,
  type Breaker,
  type BreakerState,
} from './breaker.ts'
import type { PushResult, PushOutcome } from './outcome.ts'
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
  /** When the alarm marks the endpoint as due. */
  wakeAt: number
  keys: { secrets: string; keys: KeyObject[] }
  history: History
}

/**
 * How an origin (scheme, host and port) has been responding. Another origin begins with a new history; a push that is
 * still under way to the one before updates the old history, which nobody reads any more. Another path or query of the
 * same origin does not: with a new one before each event, the breaker of an endpoint would never open.
 */
interface History extends Responses {
  underWay: number
  /** Whether it has ever responded, with any status. */
  isProven: boolean
  window: number
  breaker: Breaker
}

/** How the URL itself has been responding. */
interface Responses {
  url: string
  /** By `elapsed` of the clock, as the breaker's pause: it never leaves the process, and nobody can set that clock. */
  heldUntil: number
  succeededAt: number | null
  lastStatus: number | null
  lastError: string | null
  latencyMs: number | null
}

export interface PushHealth {
  state: BreakerState
  consecutive_failures: number
  last_status: number | null
  last_error: string | null
  last_success_at: string | null
  latency_ms: number | null
}

export const newEndpoint = (mailbox: Mailbox, url: string): Endpoint => ({
  mailbox,
  due: false,
  claiming: false,
  wakeAt: Infinity,
  keys: { secrets: '', keys: [] },
  history: newHistory(url),
})

const noResponses = (url: string): Responses => ({
  url,
  heldUntil: 0,
  succeededAt: null,
  lastStatus: null,
  lastError: null,
  latencyMs: null,
})

const newHistory = (url: string): History => ({
  ...noResponses(url),
  underWay: 0,
  isProven: false,
  window: 1,
  breaker: closed,
})

const originOf = (url: string): string => URL.parse(url)?.origin ?? url

/** Notes where the agent is pushed to. What a URL before did, or asked for, says nothing about this one. */
export function noteUrl(endpoint: Endpoint, url: string): void {
  const { history } = endpoint
  if (history.url === url) return
  if (originOf(history.url) === originOf(url)) Object.assign(history, noResponses(url))
  else endpoint.history = newHistory(url)
}

export const reputationOf = ({ history: { breaker, succeededAt, lastError } }: Endpoint): Reputation =>
  breaker.failures > 0 || lastError !== null ? 'suspect' : succeededAt === null ? 'new' : 'proven'

/** Returns for how many milliseconds nothing may be tried; 0 if it may be tried now. */
export const blockedFor = ({ history: { heldUntil, breaker } }: Endpoint, elapsed: number): number =>
  Math.max(0, Math.ceil(Math.max(heldUntil, breaker.pausedUntil ?? 0) - elapsed))

/**
 * Returns how many more requests the endpoint may be given now. A claim costs the same for one as for many, so it waits
 * until a quarter of the window is free.
 */
export function wantedBy(endpoint: Endpoint, elapsed: number): number {
  if (!endpoint.due || endpoint.claiming || blockedFor(endpoint, elapsed) > 0) return 0
  const { breaker, window, underWay } = endpoint.history
  const free = allowance(breaker, elapsed, window) - underWay
  return free * 4 < window && underWay > 0 ? 0 : free
}

/** One moment by both clocks: `now` for what is shown, `elapsed` for pauses. */
interface Moment {
  now: number
  elapsed: number
}

/** Updates the history with the outcome of a push to `url`. */
export function applyOutcome(
  history: History,
  url: string,
  result: PushResult,
  outcome: PushOutcome,
  ms: number,
  at: Moment,
): void {
  // Otherwise the agent has got another path or query of the origin meanwhile.
  if (history.url === url) noteResponse(history, result, outcome, ms, at)
  history.isProven ||= 'status' in result
  if (outcome.kind === 'acknowledged') {
    history.breaker = succeeded(history.breaker, at.elapsed)
    history.window = Math.min(MAX_WINDOW, history.window + 1)
  } else if (outcome.kind === 'later') {
    // The endpoint responds, and says when to come back: that is no failure, but no reason to hurry either.
    history.window = Math.max(1, history.window >> 1)
  } else {
    const inHandshake = 'error' in result && result.failedHandshake === true
    const ofHandshakes = OPENS_AFTER_HANDSHAKES[history.isProven ? 'proven' : 'unproven']
    history.window = 1
    history.breaker = failed(history.breaker, at.elapsed, inHandshake ? ofHandshakes : OPENS_AFTER)
  }
}

function noteResponse(responses: Responses, result: PushResult, outcome: PushOutcome, ms: number, at: Moment): void {
  responses.lastStatus = 'status' in result ? result.status : null
  responses.lastError = outcome.kind === 'acknowledged' ? null : outcome.error
  // A rough mean over the last ten or so, beginning with the first value.
  if ('status' in result) responses.latencyMs = responses.latencyMs === null ? ms : responses.latencyMs * 0.9 + ms * 0.1
  if (outcome.kind === 'acknowledged') responses.succeededAt = at.now
  if (outcome.kind === 'later')
    responses.heldUntil = Math.max(responses.heldUntil, at.elapsed + Math.min(outcome.retryAfterMs, LONGEST_HOLD_MS))
}

/** Returns the keys of these secrets, cached: deriving them again for every push would be wasted work. */
export function keysOf(endpoint: Endpoint, secrets: readonly string[]): KeyObject[] {
  const joined = secrets.join(' ')
  if (endpoint.keys.secrets !== joined) endpoint.keys = { secrets: joined, keys: secrets.map(signingKey) }
  return endpoint.keys.keys
}

export function healthOf(endpoint: Endpoint | undefined, elapsed: number): PushHealth {
  const { breaker, lastStatus, lastError, succeededAt, latencyMs } = endpoint?.history ?? newHistory('')
  return {
    state: stateOf(breaker, elapsed),
    consecutive_failures: breaker.failures,
    last_status: lastStatus,
    last_error: lastError,
    last_success_at: isoOrNull(succeededAt),
    latency_ms: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
  }
}
