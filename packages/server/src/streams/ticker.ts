// One ticker for all open streams of a kind.
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'

/** Returns a function to call when ticks may be needed. It ticks while they are; a tick follows the end of the last. */
export function makeTicker(
  clock: Clock,
  log: Logger,
  everyMs: number,
  isNeeded: () => boolean,
  tick: (now: number, elapsed: number) => void | Promise<void>,
): () => void {
  let ticking = false
  async function run(): Promise<void> {
    ticking = true
    while (isNeeded()) {
      await clock.sleep(everyMs)
      try {
        await tick(clock.now(), clock.elapsed())
      } catch (error) {
        log.error({ err: error }, 'the ticker of streams failed')
      }
    }
    ticking = false
  }
  return () => {
    if (!ticking) void run()
  }
}
