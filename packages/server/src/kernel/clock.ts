// Time is an argument. Everything that asks what time it is, or waits, does so through a Clock, so that a test can move
// it.

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

const DAY_MS = 86_400_000
let day = NaN
let date = '' // of `day`, up to and with the T

const digits = (n: number, count: number): string => String(n).padStart(count, '0')
const TWO = Array.from({ length: 60 }, (_, n) => digits(n, 2))

/** As Date.toISOString, at a third of its cost for times of one day: a list shows two times in every row. */
export function iso(ms: number): string {
  const which = Math.floor(ms / DAY_MS)
  if (which !== day) {
    const text = new Date(which * DAY_MS).toISOString()
    date = text.slice(0, text.indexOf('T') + 1)
    day = which
  }
  const rest = Math.trunc(ms) - which * DAY_MS
  const seconds = Math.floor(rest / 1000)
  const minutes = Math.floor(seconds / 60)
  return `${date}${TWO[Math.floor(minutes / 60)]}:${TWO[minutes % 60]}:${TWO[seconds % 60]}.${digits(rest % 1000, 3)}Z`
}

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))
