// Work of which only a few pieces run at once, such as the computations of a thread. Tenants take turns, and agents
// inside a tenant. An agent may have `perAgent` pieces waiting; more are refused at once.
import { tooManyAtOnce, unavailable } from './failure.ts'
import { fairQueue } from './fair-queue.ts'

export interface Turns {
  take<T>(tenant: string, agent: string, work: () => Promise<T>): Promise<T>
  /** How many wait for their turn. */
  readonly waiting: number
}

export interface TurnsOptions {
  /** What waits, as a refusal names it: `searches waiting`. */
  what: string
  atOnce: number
  perAgent?: number
  /** How many may wait of all tenants together: each holds a request. */
  total?: number
}

export function makeTurns({ what, atOnce, perAgent = 32, total = 2_048 }: TurnsOptions): Turns {
  const queue = fairQueue<() => void>()
  const waitingOf = new Map<string, number>()
  let busy = 0

  function next(): void {
    while (busy < atOnce && queue.size > 0) {
      busy++
      queue.take(() => true)[0]!()
    }
  }

  function count(agent: string, by: number): void {
    const waiting = (waitingOf.get(agent) ?? 0) + by
    if (waiting > 0) waitingOf.set(agent, waiting)
    else waitingOf.delete(agent)
  }

  return {
    get waiting() {
      return queue.size
    },
    async take(tenant, agent, work) {
      const name = `${tenant} ${agent}`
      if ((waitingOf.get(name) ?? 0) >= perAgent) throw tooManyAtOnce(what, perAgent)
      if (queue.size >= total) throw unavailable(`There are ${total} ${what}`)
      count(name, 1)
      await new Promise<void>((resolve) => {
        queue.push(tenant, agent, () => {
          count(name, -1)
          resolve()
        })
        next()
      })
      try {
        return await work()
      } finally {
        busy--
        next()
      }
    },
  }
}
