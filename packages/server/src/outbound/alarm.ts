// Endpoints that wait for a time: pauses of the breaker, Retry-After, back-off. One timer for all of them.
import type { Clock } from '../kernel/clock.ts'
import type { Endpoint } from './endpoint.ts'

interface Alarm {
  /** Marks the endpoint as due at that time, or at once if the time has come. */
  wakeAt(endpoint: Endpoint, at: number): void
  stop(): void
}

const RING_EVERY_MS = 10

export function makeAlarm(
  clock: Clock,
  endpoints: () => Iterable<Endpoint>,
  markDue: (endpoint: Endpoint) => void,
): Alarm {
  let ringsAt = Infinity
  let timer = new AbortController()
  let stopped = false

  function arm(at: number): void {
    if (at >= ringsAt || stopped) return
    timer.abort()
    const mine = (timer = new AbortController())
    ringsAt = at
    void clock.sleep(Math.max(RING_EVERY_MS, at - clock.now()), mine.signal).then(() => {
      if (!mine.signal.aborted) ring()
    })
  }

  function ring(): void {
    ringsAt = Infinity
    let next = Infinity
    for (const endpoint of endpoints()) {
      if (endpoint.wakeAt > clock.now()) next = Math.min(next, endpoint.wakeAt)
      else {
        endpoint.wakeAt = Infinity
        markDue(endpoint)
      }
    }
    if (next < Infinity) arm(next)
  }

  return {
    wakeAt(endpoint, at) {
      if (at <= clock.now()) return markDue(endpoint)
      endpoint.wakeAt = Math.min(endpoint.wakeAt, at)
      arm(endpoint.wakeAt)
    },
    stop() {
      stopped = true
      timer.abort()
    },
  }
}
