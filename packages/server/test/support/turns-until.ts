// Waiting for a condition over turns of the event loop.
import { systemClock } from '../../src/kernel/clock.ts'

/** After this many turns the condition waits for a disk or another process, which need the processor more. */
const MOST_TURNS = 100

/** Checks in every turn until the condition holds. */
export async function turnsUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await isSo()); turns++)
    await (turns < MOST_TURNS ? new Promise(setImmediate) : systemClock.sleep(1))
}
