// The time that a service serves on after it was told to stop, so that load balancers send their requests elsewhere
// before its port closes.
import type { Clock } from './clock.ts'
import { Stop } from './stop.ts'

interface Notice {
  /** Resolves after that many milliseconds, or when it is cut short. */
  wait(ms: number): Promise<void>
  /** Ends the wait. Returns false if none is under way. */
  cutShort(): boolean
}

export function makeNotice(clock: Pick<Clock, 'sleep'>): Notice {
  let waiting: Stop | null = null
  return {
    async wait(ms) {
      if (ms === 0) return
      waiting = new Stop()
      await clock.sleep(ms, waiting)
      waiting = null
    },
    cutShort() {
      if (waiting === null) return false
      waiting.stop()
      waiting = null
      return true
    },
  }
}
