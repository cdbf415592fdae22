// Waiting for a condition over turns of the event loop.
import { systemClock } from '../../src/kernel/clock.ts'

/** After this many turns the condition waits for a disk or another process, which need the processor more. */
const MOST_TURNS = 100

/** What does not hold after so long and so many turns never will: a busy machine has few turns in that time. */
const GIVEN_UP_MS = 240_000
const GIVEN_UP_TURNS = 1_000

/** Checks in every turn until the condition holds. Rejects if it never does. */
export async function turnsUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const since = performance.now()
  for (let turns = 0; !(await isSo()); turns++) {
    if (turns > GIVEN_UP_TURNS && performance.now() - since > GIVEN_UP_MS)
      throw new Error(`this never came true: ${isSo}`)
    await (turns < MOST_TURNS ? new Promise(setImmediate) : systemClock.sleep(1))
  }
}
