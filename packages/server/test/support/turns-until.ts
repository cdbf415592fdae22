// Waiting for what other turns of the event loop bring.
import { systemClock } from '../../src/kernel/clock.ts'

/** What takes longer than so many waits for a disk or another process, which need the processor more. */
const MOST_TURNS = 100

/** Looks again in every turn until it is so. */
export async function turnsUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await isSo()); turns++)
    await (turns < MOST_TURNS ? new Promise(setImmediate) : systemClock.sleep(1))
}
