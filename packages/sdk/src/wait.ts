// Time: waiting that can be aborted, and how long to wait between attempts.

const FIRST_MS = 100
const LONGEST_MS = 20_000
/** Whatever the service asks for, nobody waits longer for the next try. A timer of 25 days would end at once. */
const LONGEST_ASKED_S = 300

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

/** Rejects with the signal's reason when it is aborted first. Leaves nothing on a signal that lives longer. */
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
 * together do not come back together. What the service asked for is waited for, up to five minutes, and the jitter on
 * top.
 */
export function backoff(attempt: number, retryAfterSeconds: number | null, random = Math.random): number {
  const interval = Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt)
  const asked = Math.min(LONGEST_ASKED_S, Math.max(0, retryAfterSeconds ?? 0))
  return asked * 1000 + random() * interval
}
