// Time is an argument. What the product promises about time goes through a Clock, so that a test can move it. Timers
// that only gather work for some milliseconds, renew a claim or bound a shutdown are the machine's own.
//
// 1. A node's idea of the time never goes back. If the machine's clock is set back, or was ahead of the clock that the
//    nodes share, the node's time runs on a little slower until the two agree again. Nodes that share a database agree
//    on how far they are ahead of it meanwhile (`catchUp`).
// 2. Waits and windows are measured with `elapsed`, which nobody can set; times that are stored or shown are `now`.
// 3. Nodes that share a database go by its clock (`align`, store/follow-clock.ts): a node whose machine is an hour
//    ahead neither takes what other nodes hold nor leases anything for an hour.
// 4. A step ahead (an administrator, a time server, a laptop that slept) can be held back until everything that runs by
//    the clock has been moved along with it: otherwise every lease would lapse at once (delivery/move-with-clock.ts).

import type { StopSignal } from './stop.ts'

export interface Clock {
  /** Milliseconds since the epoch, a whole number; never decreases. */
  now(): number
  /** Milliseconds since some moment, on a clock that nobody can set. */
  elapsed(): number
  /** Resolves after that many milliseconds, or as soon as the signal is aborted. Never rejects. */
  sleep(ms: number, signal?: StopSignal): Promise<void>
  /**
   * Reports that the clock shared by the nodes showed `time` when `elapsed` was `at`, give or take `within`. From the
   * first call on, the machine's own clock no longer counts.
   */
  align(time: number, at: number, within: number): void
  /** How far `now` is ahead of the clock that the nodes share, which was set back; 0 if it follows none. */
  ahead(): number
  /** Goes ahead of the clock that the nodes share by `ahead`, as other nodes already have, or stays further ahead. */
  catchUp(ahead: number): void
  /**
   * Holds back every step ahead of the machine's clock from now on: `now` advances by the elapsed time alone until the
   * caller takes the step over with `takeStep`. A clock that is aligned has no such steps.
   */
  holdSteps(): void
  /** How far `now` is behind the machine's clock because of a step that is held back; 0 if there is none. */
  heldStep(): number
  /** Takes over the step that is held back, and returns by how much it moves `now` ahead. */
  takeStep(): number
}

/** The sources that a clock is made of. */
interface Machine {
  /** The time of day, which an administrator, a time server or a resumed virtual machine may move either way. */
  wall(): number
  elapsed(): number
  sleep: Clock['sleep']
}

/**
 * The pace of a clock that is ahead. A lease of 30 s lasts 0.6 s longer, which nobody minds, and a clock that is an
 * hour ahead is right again after two days.
 */
const PACE_WHEN_AHEAD = 0.98

/**
 * A gain of the machine's clock above this, at once, is a step. While steps are held back, a smaller gain is caught up
 * with at this pace: a lease of 30 s is then 0.6 s shorter, and a lease of 2 s does not lose a whole second.
 */
const STEP_MS = 1_000
const PACE_WHEN_BEHIND = 1.02

export function makeClock({ wall, elapsed, sleep }: Machine): Clock {
  let shared: { time: number; at: number } | null = null
  let last = -Infinity
  let lastAt = 0
  let holds = false
  let held = 0

  const followed = (at: number): number => (shared ? shared.time + at - shared.at : wall())

  function now(): number {
    const at = elapsed()
    const passed = at - lastAt
    const shown = followed(at)
    const ahead = shown - (last + passed)
    const isHolding = holds && !shared && last > -Infinity
    held = isHolding && ahead > STEP_MS ? Math.floor(ahead) : 0
    const fastest = isHolding ? last + PACE_WHEN_BEHIND * passed : Infinity
    last = held > 0 ? last + passed : Math.max(Math.min(shown, fastest), last + PACE_WHEN_AHEAD * passed)
    lastAt = at
    return Math.floor(last)
  }

  function heldStep(): number {
    now()
    return held
  }

  return {
    now,
    elapsed,
    sleep,
    align(time, at, within) {
      // A difference within the error of the measurement would only make the clock jitter.
      if (shared && Math.abs(followed(at) - time) <= within) return
      // Before the first measurement `last` was the machine's own time, and nothing has been stored by it.
      if (!shared) last = -Infinity
      shared = { time, at }
    },
    ahead: () => (shared ? Math.max(0, now() - Math.floor(followed(lastAt))) : 0),
    catchUp(ahead) {
      if (shared) last = Math.max(now(), followed(lastAt) + ahead)
    },
    holdSteps: () => void (holds = true),
    heldStep,
    takeStep() {
      const step = heldStep()
      last += step
      held = 0
      return step
    },
  }
}

export const systemClock: Clock = makeClock({
  wall: Date.now,
  elapsed: () => performance.now(),
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
})

export const DAY_MS = 86_400_000
let day = NaN
let date = '' // of `day`, up to and including the T

const digits = (n: number, count: number): string => String(n).padStart(count, '0')
const TWO = Array.from({ length: 60 }, (_, n) => digits(n, 2))

/** Like Date.toISOString, at a third of its cost for times of one day: a list shows two times in every row. */
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
export const msOrNull = (time: string | null | undefined): number | null => (time ? Date.parse(time) : null)
