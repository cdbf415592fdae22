// Runs a few pieces of work at once, such as the computations of a thread, and lets the others wait. Tenants take
// turns, and agents inside a tenant. An agent may have `perAgent` pieces waiting; more are refused at once. Where the
// other side decides how long a piece lasts, taking turns is not enough: `kept` of the pieces at once are only for
// tenants that have none running.
import { makeCounts } from './counts.ts'
import { tooManyAtOnce, unavailable } from './failure.ts'
import { fairQueue } from './fair-queue.ts'

export interface Turns {
  take<T>(tenant: string, agent: string, work: () => Promise<T>): Promise<T>
}

interface TurnsOptions {
  /** What waits, as a refusal names it: `searches waiting`. */
  what: string
  atOnce: number
  /** How many of `atOnce` are kept for tenants that have none running. */
  kept?: number
  perAgent?: number
  /** How many may wait of all tenants together: each holds a request. */
  total?: number
}

export function makeTurns({ what, atOnce, kept = 0, perAgent = 32, total = 2_048 }: TurnsOptions): Turns {
  const queue = fairQueue<() => void>()
  const waitingOf = makeCounts()
  const runningOf = makeCounts()
  let busy = 0

  function next(): void {
    while (busy < atOnce && queue.size > 0) {
      const begin = queue.next(busy < atOnce - kept ? undefined : runningOf.has)
      if (!begin) return
      busy++
      begin()
    }
  }

  return {
    async take(tenant, agent, work) {
      const name = `${tenant} ${agent}`
      if (waitingOf.of(name) >= perAgent) throw tooManyAtOnce(what, perAgent)
      if (queue.size >= total) throw unavailable(`There are ${total} ${what}`)
      waitingOf.add(name, 1)
      await new Promise<void>((resolve) => {
        queue.push(tenant, agent, () => {
          waitingOf.add(name, -1)
          runningOf.add(tenant, 1)
          resolve()
        })
        next()
      })
      try {
        return await work()
      } finally {
        busy--
        runningOf.add(tenant, -1)
        next()
      }
    },
  }
}
