// A circuit breaker, pure: from what happened and the time that has elapsed, it decides whether the endpoint may be
// tried.
//
// closed     everything may be tried
// open       the endpoint failed too often in a row: nothing is tried until the pause is over, and no attempt is spent
// half_open  the pause is over: one delivery is tried, and its outcome closes the breaker or opens it for another pause

export const OPENS_AFTER = 10
/**
 * Handshakes that fail in a row until the breaker opens: for an endpoint that has never responded, and for one that
 * has. A handshake can be made to cost seconds. But one that is reset may be a restart of a proxy that others survive.
 */
export const OPENS_AFTER_HANDSHAKES = { unproven: 1, proven: 3 }
/** An endpoint that is down is tried with one delivery a minute, however many wait for it. */
const PAUSE_MS = 60_000

export interface Breaker {
  failures: number
  /** When the pause ends; null while closed. */
  pausedUntil: number | null
}

export type BreakerState = 'closed' | 'open' | 'half_open'

export const closed: Breaker = { failures: 0, pausedUntil: null }

export const stateOf = ({ pausedUntil }: Breaker, elapsed: number): BreakerState =>
  pausedUntil === null ? 'closed' : elapsed < pausedUntil ? 'open' : 'half_open'

/** Returns how many requests may be under way; `otherwise` is the number without the breaker. */
export function allowance(breaker: Breaker, elapsed: number, otherwise: number): number {
  const state = stateOf(breaker, elapsed)
  return state === 'closed' ? otherwise : state === 'half_open' ? Math.min(1, otherwise) : 0
}

/** The outcome of a request that was under way when the breaker opened tells nothing new. */
export const succeeded = (breaker: Breaker, elapsed: number): Breaker =>
  stateOf(breaker, elapsed) === 'open' ? breaker : closed

/** A failure; `opensAfter` is with how many in a row the breaker opens. */
export function failed(breaker: Breaker, elapsed: number, opensAfter = OPENS_AFTER): Breaker {
  const failures = breaker.failures + 1
  const state = stateOf(breaker, elapsed)
  // The outcome of a request that was under way when the breaker opened tells nothing new.
  if (state === 'open') return { ...breaker, failures }
  if (state === 'closed' && failures < opensAfter) return { ...breaker, failures }
  return { failures, pausedUntil: elapsed + PAUSE_MS }
}
