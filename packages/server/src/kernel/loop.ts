// A background service is `runOnce()` and this loop around it. Tests call `runOnce()`; only the loop knows about
// waiting.
import type { Clock } from './clock.ts'
import type { Logger } from './logger.ts'

export interface Loop {
  stop(): Promise<void>
}

/** Runs until stopped, waiting `everyMs` between runs. A failed run is logged and tried again after the same wait. */
export function startLoop(
  name: string,
  everyMs: number,
  clock: Clock,
  log: Logger,
  runOnce: () => Promise<unknown>,
): Loop {
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(everyMs, stopping.signal)
      if (stopping.signal.aborted) return
      try {
        await runOnce()
      } catch (error) {
        log.warn({ err: error, loop: name }, 'background run failed')
      }
    }
  })()
  return {
    stop() {
      stopping.abort()
      return running
    },
  }
}
