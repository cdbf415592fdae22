// A clock that stands still until a test moves it. Whoever sleeps wakes when the time has come, in order.
import type { Clock } from '../../src/kernel/clock.ts'

export interface FakeClock extends Clock {
  /** Moves the time on, waking every sleeper on the way, and lets what they do settle. */
  advance(ms: number): Promise<void>
  /**
   * Moves the time on at one go: whoever is due wakes once, however long it was. For days, where advancing would take
   * as long.
   */
  jump(ms: number): Promise<void>
  sleepers(): number
}

export const START = Date.parse('2030-01-01T00:00:00Z')

const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
}

export function fakeClock(start = START): FakeClock {
  let now = start
  let sleepers: { at: number; wake: () => void }[] = []
  return {
    now: () => now,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const sleeper = { at: now + ms, wake: resolve }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((other) => other !== sleeper)
          resolve()
        })
      })
    },
    async advance(ms) {
      const until = now + ms
      for (;;) {
        const next = sleepers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
        if (!next) break
        now = Math.max(now, next.at)
        sleepers = sleepers.filter((sleeper) => sleeper !== next)
        next.wake()
        await settle()
      }
      now = until
      await settle()
    },
    async jump(ms) {
      now += ms
      const due = sleepers.filter(({ at }) => at <= now)
      sleepers = sleepers.filter(({ at }) => at > now)
      for (const sleeper of due) sleeper.wake()
      await settle()
    },
    sleepers: () => sleepers.length,
  }
}
