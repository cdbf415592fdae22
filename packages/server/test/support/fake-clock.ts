// A clock that stands still until a test moves it. Whoever sleeps wakes when the time has come, in order. It is the
// product's own clock on a machine of the test's.
import { makeClock, systemClock, type Clock } from '../../src/kernel/clock.ts'

export interface FakeClock extends Clock {
  /** Moves the time on, waking every sleeper on the way, and lets what they do settle. */
  advance(ms: number): Promise<void>
  /**
   * Moves the time on at one go: whoever is due wakes once, however long it was. For days, where advancing would take
   * as long.
   */
  jump(ms: number): Promise<void>
  /** Sets the machine's clock by so much, back if it is negative: no time passes. */
  set(ms: number): void
  sleepers(): number
}

export const START = Date.parse('2030-01-01T00:00:00Z')

const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
}

export function fakeClock(start = START): FakeClock {
  let passed = 0
  let offset = start
  let sleepers: { at: number; wake: () => void }[] = []
  const machine = makeClock({
    wall: () => offset + passed,
    elapsed: () => passed,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wake = (): void => {
          // A loop sleeps thousands of times on one signal, which looks through all its listeners for each.
          signal?.removeEventListener('abort', stop)
          resolve()
        }
        const sleeper = { at: passed + ms, wake }
        const stop = (): void => {
          sleepers = sleepers.filter((other) => other !== sleeper)
          wake()
        }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', stop)
      })
    },
  })
  function wakeUntil(time: number): void {
    const due = sleepers.filter(({ at }) => at <= time)
    sleepers = sleepers.filter(({ at }) => at > time)
    for (const { wake } of due.sort((a, b) => a.at - b.at)) wake()
  }
  return {
    ...machine,
    align() {}, // a test's time is the test's alone, whatever the database says
    async advance(ms) {
      const until = passed + ms
      for (;;) {
        const next = Math.min(...sleepers.map(({ at }) => at))
        if (next > until) break
        passed = Math.max(passed, next)
        wakeUntil(passed)
        await settle()
      }
      passed = until
      await settle()
    },
    async jump(ms) {
      passed += ms
      wakeUntil(passed)
      await settle()
    },
    set: (ms) => void (offset += ms),
    sleepers: () => sleepers.length,
  }
}

/** The clock of a real machine that is so far ahead of this one. It cannot be moved. */
export const realClock = (aheadMs = 0): FakeClock => ({
  ...makeClock({ ...systemClock, wall: () => Date.now() + aheadMs }),
  advance: async () => {},
  jump: async () => {},
  set() {},
  sleepers: () => 0,
})
