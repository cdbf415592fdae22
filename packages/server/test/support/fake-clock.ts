// A clock that stands still until a test moves it. Sleepers wake when their time has come, in order. It is the
// product's own clock on a simulated machine.
//
// Work takes no time on it: work under way ends before the time moves, and again after a sleeper was woken. Otherwise a
// sweep that read the time and was still waiting for the database when the time moved would sleep from then on without
// having seen what became due meanwhile, and a test that waits for it would wait for ever.
import { makeClock, systemClock, type Clock } from '../../src/kernel/clock.ts'

export interface FakeClock extends Clock {
  /**
   * Moves the time on and wakes every sleeper on the way. Work under way ends first, and work that begins in the last
   * seconds has ended when this resolves.
   */
  advance(ms: number): Promise<void>
  /**
   * Moves the time on in one step: every due sleeper wakes once, however long the step. For days, which would take too
   * long with `advance`.
   */
  jump(ms: number): Promise<void>
  /** The same, without waiting for work under way: for tests of exactly that. */
  moveNow(ms: number): void
  /** Sets the machine's clock ahead by `ms`, or back if negative: no time passes. */
  set(ms: number): void
  sleepers(): number
  /** Resolves when no work is under way any more. */
  rest(): Promise<unknown>
  /** Makes the time move only while `isBusy` is false. Returns a function that ends this. */
  restWith(isBusy: () => boolean): () => void
}

export const START = Date.parse('2030-01-01T00:00:00Z')

/** A request to a port of this process, and its response, need some turns of the event loop while nothing is busy. */
const QUIET_TURNS = 20
/** Work that takes longer than this waits for something that the test does later, such as releasing a lock. */
const PATIENCE_MS = 10_000
/**
 * At the end of a long time `advance` waits for every round of a loop; before that, rounds may be late as on a busy
 * machine: a minute of full rounds takes seconds on PostgreSQL. Every loop that a test waits for has a shorter period.
 */
const EXACT_MS = 2_500

const someTurns = async (): Promise<void> => {
  for (let i = 0; i < QUIET_TURNS; i++) await new Promise(setImmediate)
}

/** Resolves to true when nothing has been busy for some turns, to false when that took too long. */
async function becomeQuiet(isBusy: () => boolean): Promise<boolean> {
  const since = performance.now()
  for (let quiet = 0, turns = 0; quiet < QUIET_TURNS; turns++) {
    // After some turns the work waits for a disk or another process, which need the processor more.
    await (turns < 200 ? new Promise(setImmediate) : systemClock.sleep(1))
    quiet = isBusy() ? 0 : quiet + 1
    if (performance.now() - since > PATIENCE_MS) return false
  }
  return true
}

export function fakeClock(start = START): FakeClock {
  let passed = 0
  let offset = start
  let sleepers: { at: number; wake: () => void }[] = []
  const watched = new Set<() => boolean>()
  const rest = (): Promise<boolean> => becomeQuiet(() => [...watched].some((isBusy) => isBusy()))
  const machine = makeClock({
    wall: () => offset + passed,
    elapsed: () => passed,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wake = (): void => {
          // A loop sleeps thousands of times on one signal, which searches all of its listeners each time.
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
    align() {}, // only the test sets its time, whatever the database says
    async advance(ms) {
      const until = passed + ms
      const exactFrom = until - EXACT_MS
      let isQuiet = await rest()
      for (let isExact = passed >= exactFrom; ; ) {
        const next = Math.min(until, ...sleepers.map(({ at }) => at))
        if (!isExact && next >= exactFrom) {
          isExact = true
          passed = Math.max(passed, exactFrom)
          isQuiet &&= await rest()
          continue
        }
        passed = Math.max(passed, next)
        wakeUntil(passed)
        if (isExact && isQuiet) isQuiet = await rest()
        else await someTurns()
        if (passed >= until && !sleepers.some(({ at }) => at <= until)) return
      }
    },
    async jump(ms) {
      await rest()
      passed += ms
      wakeUntil(passed)
      await rest()
    },
    moveNow(ms) {
      passed += ms
      wakeUntil(passed)
    },
    set: (ms) => void (offset += ms),
    sleepers: () => sleepers.length,
    rest,
    restWith(isBusy) {
      watched.add(isBusy)
      return () => void watched.delete(isBusy)
    },
  }
}

/** The clock of a real machine that is `aheadMs` ahead of this one. It cannot be moved. */
export const realClock = (aheadMs = 0): FakeClock => ({
  ...makeClock({ ...systemClock, wall: () => Date.now() + aheadMs }),
  advance: async () => {},
  jump: async () => {},
  moveNow() {},
  set() {},
  sleepers: () => 0,
  rest: async () => {},
  restWith: () => () => {},
})
