// A circuit breaker, pure: it is given what happened and the time, and says whether the endpoint may be tried.
//
// closed     everything may be tried open       the endpoint failed too often in a row: nothing is tried until the
// pause is over, and no attempt is used up half_open  the pause is over: one request is tried, and its outcome closes
// the breaker or opens it again for longer
import { backoffMs, type Backoff } from '../kernel/backoff.ts'

export const OPENS_AFTER = 10
const PAUSE: Backoff = { firstMs: 5_000, maxMs: 120_000 }

export interface Breaker {
  failures: number
  /** When the pause ends; null while closed. */
  pausedUntil: number | null
  /** Pauses since the last success. */
  pauses: number
}

export type BreakerState = 'closed' | 'open' | 'half_open'

export const closed: Breaker = { failures: 0, pausedUntil: null, pauses: 0 }

export const stateOf = ({ pausedUntil }: Breaker, now: number): BreakerState =>
  pausedUntil === null ? 'closed' : now < pausedUntil ? 'open' : 'half_open'

/** How many requests may be under way, of those that the endpoint would be given otherwise. */
export function allowance(breaker: Breaker, now: number, otherwise: number): number {
  const state = stateOf(breaker, now)
  return state === 'closed' ? otherwise : state === 'half_open' ? Math.min(1, otherwise) : 0
}

export const succeeded = (): Breaker => closed

export function failed(breaker: Breaker, now: number, random: () => number = Math.random): Breaker {
  const failures = breaker.failures + 1
  const state = stateOf(breaker, now)
  // What was under way when it opened says nothing new.
  if (state === 'open') return { ...breaker, failures }
  if (state === 'closed' && failures < OPENS_AFTER) return { ...breaker, failures }
  const pauses = breaker.pauses + 1
  return { failures, pauses, pausedUntil: now + backoffMs(PAUSE, pauses, random) }
}
