// Time is an argument. Everything that asks what time it is, or waits, does so through a Clock, so that a test can move it.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Resolves after that many milliseconds, or as soon as the signal is aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: Date.now,
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done)
    })
  },
}

export const iso = (ms: number): string => new Date(ms).toISOString()

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))
