// Time: waiting that can be aborted, and how long to wait between attempts.

const FIRST_MS = 100
const LONGEST_MS = 20_000

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
 * Exponential back-off with full jitter: anything from nothing to the whole interval, so that clients that failed
 * together do not come back together. What the service asked for is waited for in any case, and the jitter on top.
 */
export function backoff(attempt: number, retryAfterSeconds: number | null, random = Math.random): number {
  const interval = Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt)
  return (retryAfterSeconds ?? 0) * 1000 + random() * interval
}
