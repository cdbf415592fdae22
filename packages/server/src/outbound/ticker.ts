// One ticker for all open streams of a kind.
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'

/** Ticks while it is needed; to be called whenever it may have become so. The next tick follows the end of the last. */
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
