// Who gets a connection when all are in use: tenants take turns, and callers inside a tenant. A pool serves whoever came
// first, and a neighbour of four hundred clients that change something waited for all of them.
import { fairQueue } from '../kernel/fair-queue.ts'
import { ITSELF, StoreUnavailable, type Caller } from './db.ts'

interface Waiter {
  begin(): void
  isGone: boolean
}

export interface ConnectionTurns {
  /** Takes one of the places, or resolves when it has one. Rejects where too many wait, or one waits for too long. */
  take(caller: Caller | undefined): void | Promise<void>
  /** Gives the place back. */
  leave(): void
  readonly waiting: number
}

export function makeConnectionTurns(places: number, mostWaiting: number, withinMs: number): ConnectionTurns {
  const queue = fairQueue<Waiter>()
  let free = places
  let gone = 0

  function wait({ tenantId, id }: Caller): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        isGone: false,
        begin() {
          clearTimeout(timer)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        waiter.isGone = true
        gone++
        reject(new StoreUnavailable('all connections are in use', { trouble: 'busy' }))
      }, withinMs)
      queue.push(tenantId, id, waiter)
    })
  }

  return {
    take(caller) {
      if (free > 0) return void free--
      if (queue.size - gone >= mostWaiting)
        throw new StoreUnavailable('too many transactions are waiting', { trouble: 'busy' })
      return wait(caller ?? ITSELF)
    },
    leave() {
      // Those who have given up are still in their lines.
      for (const waiter of queue.take(({ isGone }) => !isGone)) {
        if (!waiter.isGone) return waiter.begin()
        gone--
      }
      free++
    },
    get waiting() {
      return queue.size - gone
    },
  }
}
