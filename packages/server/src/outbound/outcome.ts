// What a response to a push means, pure.

export type PushResult =
  | { status: number; retryAfter: string | undefined }
  /**
   * `failedHandshake`: the endpoint took the connection and ended it, or sent a certificate that is not accepted.
   * `notSent`: the time was over before there was a turn to connect. `isLate`: the turn came, but so late that too
   * little time may have been left, or the endpoint may have had it over a connection that was closed. Neither says
   * anything about the endpoint.
   */
  | { error: string; failedHandshake?: true; notSent?: true; isLate?: true }

export type PushOutcome =
  | { kind: 'acknowledged' }
  /** The endpoint is reachable and asks for time. */
  | { kind: 'later'; error: string; retryAfterMs: number }
  | { kind: 'gone'; error: string }
  | { kind: 'failed'; error: string }

const LONGEST_WAIT_MS = 24 * 3_600_000

const RFC_850 = /^[A-Z][a-z]{5,8}, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d:\d\d:\d\d) GMT$/
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/** Parses a date in any of the three forms of HTTP (RFC 9110, 5.6.7); NaN for anything else. */
function parseHttpDate(text: string, now: number): number {
  if (/^[A-Z][a-z]{2},/.test(text)) return Date.parse(text)
  // This form names no time zone: it is in GMT.
  if (ASCTIME.test(text)) return Date.parse(`${text} GMT`)
  const parts = RFC_850.exec(text)
  if (!parts) return NaN
  const [, day, month, digits, time] = parts
  const thisYear = new Date(now).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + Number(digits)
  // A year of two digits is at most 50 years ahead.
  return Date.parse(`${day} ${month} ${year > thisYear + 50 ? year - 100 : year} ${time} GMT`)
}

/** Parses `Retry-After`, seconds or a date, to milliseconds; null if it is missing, invalid or not in the future. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text, now) - now
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
