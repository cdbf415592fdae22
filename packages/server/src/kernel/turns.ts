// Runs a few pieces of work at once, such as the computations of a thread, and lets the others wait. Tenants take turns,
// and agents inside a tenant. An agent may have `perAgent` pieces waiting; more are refused at once. Where the other
// side decides how long a piece lasts, taking turns is not enough: `kept` of the pieces at once are only for tenants
// that have none running.
import { tooManyAtOnce, unavailable } from './failure.ts'
import { fairQueue } from './fair-queue.ts'

export interface Turns {
  take<T>(tenant: string, agent: string, work: () => Promise<T>): Promise<T>
}

export interface TurnsOptions {
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
  const waitingOf = new Map<string, number>()
  const runningOf = new Map<string, number>()
  const isRunning = (tenant: string): boolean => runningOf.has(tenant)
  let busy = 0

  function next(): void {
    while (busy < atOnce && queue.size > 0) {
      const [begin] = queue.take(() => true, busy < atOnce - kept ? undefined : isRunning)
      if (!begin) return
      busy++
      begin()
    }
  }

  function count(counts: Map<string, number>, name: string, by: number): void {
    const number = (counts.get(name) ?? 0) + by
    if (number > 0) counts.set(name, number)
    else counts.delete(name)
  }

  return {
    async take(tenant, agent, work) {
      const name = `${tenant} ${agent}`
      if ((waitingOf.get(name) ?? 0) >= perAgent) throw tooManyAtOnce(what, perAgent)
      if (queue.size >= total) throw unavailable(`There are ${total} ${what}`)
      count(waitingOf, name, 1)
      await new Promise<void>((resolve) => {
        queue.push(tenant, agent, () => {
          count(waitingOf, name, -1)
          count(runningOf, tenant, 1)
          resolve()
        })
        next()
      })
      try {
        return await work()
      } finally {
        busy--
        count(runningOf, tenant, -1)
        next()
      }
    },
  }
}
