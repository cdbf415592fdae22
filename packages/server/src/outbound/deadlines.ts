// Cuts the exchanges that have run out of time, and all of them when the node shuts down.
import type { Clock } from '../kernel/clock.ts'
import { ExchangeAborted, type UnderWay } from './send-once.ts'

export const RESPONSE_WITHIN_MS = 15_000
export const INTERRUPTED = 'interrupted: the node was shutting down'

interface Deadlines {
  /** Watches an exchange from now on. All have the same limit of time, so the oldest runs out first. */
  begin(exchange: UnderWay): void
  end(exchange: UnderWay): void
  cutAll(): void
}

export function makeDeadlines(clock: Clock, closing: AbortSignal): Deadlines {
  const underWay = new Set<UnderWay>()
  let watching = false

  function cut(exchange: UnderWay, why: string): void {
    underWay.delete(exchange)
    exchange.cutBy = new ExchangeAborted(why)
    exchange.request?.destroy(exchange.cutBy)
    exchange.leaveLine?.(exchange.cutBy)
  }

  // One timer for all: a timer and two signals for each push were a quarter of the cost of a push.
  async function watch(): Promise<void> {
    if (watching) return
    watching = true
    while (underWay.size > 0) {
      const [oldest] = underWay
      await clock.sleep(Math.max(1, oldest!.until - clock.elapsed()), closing)
      for (const exchange of underWay) {
        if (closing.aborted) cut(exchange, INTERRUPTED)
        else if (exchange.until <= clock.elapsed()) cut(exchange, `no response within ${RESPONSE_WITHIN_MS / 1000} s`)
        else break
      }
    }
    watching = false
  }

  return {
    begin(exchange) {
      underWay.add(exchange)
      void watch()
    },
    end: (exchange) => void underWay.delete(exchange),
    cutAll() {
      for (const exchange of underWay) cut(exchange, INTERRUPTED)
    },
  }
}
