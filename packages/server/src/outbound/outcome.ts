// What a response to a push means, pure.

export type PushResult = { status: number; retryAfter: string | undefined } | { error: string }

export type PushOutcome =
  | { kind: 'acknowledged' }
  /** The endpoint is reachable and asks for time. */
  | { kind: 'later'; error: string; retryAfterMs: number }
  | { kind: 'gone'; error: string }
  | { kind: 'failed'; error: string }

const LONGEST_WAIT_MS = 24 * 3_600_000

/** Parses `Retry-After`, seconds or a date, to milliseconds; null if it is missing, invalid or not in the future. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : /^[A-Z][a-z]{2},/.test(text) ? Date.parse(text) - now : NaN
  return ms > 0 ? Math.min(ms, LONGEST_WAIT_MS) : null
}

export function outcomeOf(result: PushResult, now: number): PushOutcome {
  if ('error' in result) return { kind: 'failed', error: result.error }
  const { status } = result
  if (status >= 200 && status < 300) return { kind: 'acknowledged' }
  const error = `HTTP ${status}`
  if (status === 410) return { kind: 'gone', error }
  const wait = status === 429 || status === 503 ? retryAfterMs(result.retryAfter, now) : null
  return wait === null ? { kind: 'failed', error } : { kind: 'later', error, retryAfterMs: wait }
}
