// Waiting that can be aborted, and how long to wait between attempts.

const FIRST_MS = 100
const MAX_MS = 20_000
/** Unless the caller sets how many attempts a call has, it has at least this many. */
const LEAST_ATTEMPTS = 8
/** And it waits at least this long in all for a service that is away: longer than a restart takes. */
const LEAST_PATIENCE_MS = 60_000
/** The longest wait before a retry, whatever the service asks for. */
const MAX_ASKED_S = 300

/** 23 days. A timer that is set for more than 24, or for ever, would fire at once. */
export const LONGEST_MS = 2e9

/** Resolves after that time; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const timer = setTimeout(done, ms)
    function done(): void {
      signal?.removeEventListener('abort', abort)
      resolve()
    }
    function abort(): void {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/**
 * Resolves or rejects as `work` does, or rejects with the signal's reason if it is aborted first. Leaves no listener on
 * a signal that lives longer.
 */
export const orAborted = <T>(work: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal!.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', abort))
  })

/**
 * Exponential back-off with full jitter: anything from nothing to the whole interval, so that clients that failed
 * together do not retry together. The wait that the service asked for, up to five minutes, comes on top.
 */
export function backoff(attempt: number, askedSeconds: number, random = Math.random): number {
  const interval = Math.min(MAX_MS, FIRST_MS * 2 ** attempt)
  const asked = Math.min(MAX_ASKED_S, Math.max(0, askedSeconds))
  return asked * 1000 + random() * interval
}

/** Waits as `backoff` says, or until the signal is aborted. */
export const rest = (attempt: number, askedSeconds: number, signal?: AbortSignal): Promise<void> =>
  sleep(backoff(attempt, askedSeconds), signal).catch(() => {})

/**
 * Whether a call that failed is not tried again. `waitedMs` adds up the waits before its attempts, and not the time of
 * the attempts themselves: a service that takes a minute to fail does not get fewer of them.
 */
export const isLast = (attempts: number | undefined, tried: number, waitedMs: number, isAway: boolean): boolean =>
  attempts === undefined ? tried >= LEAST_ATTEMPTS && (!isAway || waitedMs >= LEAST_PATIENCE_MS) : tried >= attempts
