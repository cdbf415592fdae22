// The rules of a delivery, pure. Everything that changes a delivery's state asks here first.
//
// Nouns: a delivery is one event in one recipient's mailbox. An attempt is one delivery to the receiver. A lease is the
// time an attempt has.
//
// 1. ready → leased → acknowledged is the ordinary way; a lease that lapses, or is given back, leads to ready again.
// 2. attempts counts how often the delivery went out. After the last attempt, only an acknowledgement saves it from the
//    dead letters.
// 3. acknowledged is final. dead_lettered ends with a replay, which starts over.

import type { DeliveryPolicy } from './policy.ts'

export interface Attempted {
  attempts: number
  /** When the delivery was first delivered. */
  first_attempt_at: number | null
  last_error: string | null
}

export type Next = { state: 'ready' } | { state: 'waiting'; dueAt: number } | { state: 'dead_lettered'; reason: string }

const spanOf = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}

function exhausted(delivery: Attempted, now: number, what: string): Next {
  const times = delivery.attempts === 1 ? '1 attempt' : `${delivery.attempts} attempts`
  const error = delivery.last_error ? `; last error: ${delivery.last_error}` : ''
  return {
    state: 'dead_lettered',
    reason: `${what} after ${times} over ${spanOf(now - (delivery.first_attempt_at ?? now))}${error}`,
  }
}

/** The next state after a lease lapsed, or was dropped with its stream. */
export const afterLapse = (delivery: Attempted, now: number, { maxAttempts }: DeliveryPolicy): Next =>
  delivery.attempts >= maxAttempts ? exhausted(delivery, now, 'Not acknowledged') : { state: 'ready' }

/** The next state after the handler gave the delivery back. */
export function afterNack(
  delivery: Attempted,
  nack: { retryAfterMs: number; reason: string | null; deadLetter: boolean },
  now: number,
  { maxAttempts }: DeliveryPolicy,
): Next {
  if (nack.deadLetter) return { state: 'dead_lettered', reason: nack.reason ?? 'The handler gave it up' }
  if (delivery.attempts >= maxAttempts)
    return exhausted({ ...delivery, last_error: nack.reason ?? delivery.last_error }, now, 'Given back')
  return nack.retryAfterMs > 0 ? { state: 'waiting', dueAt: now + nack.retryAfterMs } : { state: 'ready' }
}

/** Waits vary by this fraction either way, so that pushes that failed together are not retried together. */
const JITTER = 0.2

/** How long a delivery waits after its failed push number `attempt`, unless the endpoint asks for longer. */
function pushRetryMs(schedule: readonly number[], attempt: number, random: () => number): number {
  const seconds = schedule[Math.min(attempt, schedule.length) - 1]!
  return Math.round(seconds * 1000 * (1 - JITTER + 2 * JITTER * random()))
}

/** The next state after a push got a response other than 2xx, or none. */
export function afterFailedPush(
  delivery: Attempted,
  failure: { error: string; retryAfterMs: number | null },
  now: number,
  { maxAttempts, pushRetryS }: DeliveryPolicy,
  random: () => number = Math.random,
): Next {
  if (delivery.attempts >= maxAttempts) return exhausted({ ...delivery, last_error: failure.error }, now, 'Push failed')
  // A Retry-After never shortens the wait: it can be wrong, as `Retry-After: 1` while a server is down for an hour, and
  // the attempts would be over in seconds.
  const waitMs = Math.max(failure.retryAfterMs ?? 0, pushRetryMs(pushRetryS, delivery.attempts, random))
  return { state: 'waiting', dueAt: now + waitMs }
}
