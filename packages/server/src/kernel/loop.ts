// A background service is `runOnce()` and this loop around it. Tests call `runOnce()`; only the loop knows about
// waiting. A loop that fails on every round would otherwise leave its work undone in silence: the failures are counted,
// logged less and less often while they go on, and reported by /readyz.
import type { Clock } from './clock.ts'
import type { Logger } from './logger.ts'

export interface Loop {
  stop(): Promise<void>
}

/** A loop whose rounds have all failed for a while. */
export interface Failing {
  loop: string
  /** Failed rounds in a row. */
  rounds: number
  seconds: number
}

export interface LoopHealth {
  failed(loop: string, error: unknown): void
  succeeded(loop: string): void
  /** Returns the loops that have failed long enough to report; a store that is away for a moment fails all of them. */
  failing(): Failing[]
}

const WORTH_SAYING_MS = 60_000
const WORTH_SAYING_ROUNDS = 3
const LOG_AGAIN_MS = 60_000
const LOG_AT_LEAST_MS = 3_600_000

interface Trouble {
  since: number
  rounds: number
  logAt: number
  logAfter: number
}

/** `count` is called for every failed round. */
export function makeLoopHealth(clock: Clock, log: Logger, count: (loop: string) => void = () => {}): LoopHealth {
  const troubles = new Map<string, Trouble>()
  return {
    failed(loop, error) {
      count(loop)
      const now = clock.elapsed()
      const trouble = troubles.get(loop) ?? { since: now, rounds: 0, logAt: now, logAfter: LOG_AGAIN_MS }
      troubles.set(loop, trouble)
      trouble.rounds++
      if (now < trouble.logAt) return
      log.warn({ err: error, loop, rounds: trouble.rounds }, 'background run failed')
      trouble.logAt = now + trouble.logAfter
      trouble.logAfter = Math.min(trouble.logAfter * 2, LOG_AT_LEAST_MS)
    },
    succeeded(loop) {
      const trouble = troubles.get(loop)
      if (!trouble) return
      troubles.delete(loop)
      log.info({ loop, rounds: trouble.rounds }, 'background run works again')
    },
    failing: () =>
      [...troubles].flatMap(([loop, { since, rounds }]) => {
        const lasted = clock.elapsed() - since
        if (lasted < WORTH_SAYING_MS || rounds < WORTH_SAYING_ROUNDS) return []
        return [{ loop, rounds, seconds: Math.floor(lasted / 1000) }]
      }),
  }
}

/**
 * Runs until stopped, waiting `everyMs` before each run. A failed run is reported to `health` and tried again after the
 * same wait.
 */
export function startLoop(
  name: string,
  everyMs: number,
  clock: Clock,
  health: LoopHealth,
  runOnce: () => Promise<unknown>,
): Loop {
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(everyMs, stopping.signal)
      if (stopping.signal.aborted) return
      try {
        await runOnce()
        health.succeeded(name)
      } catch (error) {
        health.failed(name, error)
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
