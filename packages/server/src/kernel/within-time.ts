// Waits for work up to a timeout, on the clock that a test can move. The work itself goes on.
import type { Clock } from './clock.ts'
import { Stop } from './stop.ts'

/** Returns the result of the work, or what `otherwise` returns if there is none after `ms`. */
export async function withinTime<T>(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  work: Promise<T>,
  otherwise: () => T,
): Promise<T> {
  const settled = new Stop()
  const over = clock.sleep(ms, settled).then(() => (settled.aborted ? work : otherwise()))
  try {
    return await Promise.race([work, over])
  } finally {
    settled.stop()
  }
}
