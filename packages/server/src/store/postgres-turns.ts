// Which caller gets a connection when all are in use: tenants take turns, and callers inside a tenant. A pool serves in
// order of arrival, and a neighbour of four hundred writing clients waited for all of them. A tenant may also be
// limited to a few of the places, even when others are free.
import { makeCounts } from '../kernel/counts.ts'
import { fairQueue } from '../kernel/fair-queue.ts'
import { SERVICE_CALLER, StoreUnavailable, type Caller } from './db.ts'

interface Waiter {
  begin(): void
  isGone: boolean
}

export interface ConnectionTurns {
  /**
   * Takes a place, or returns a promise that resolves when there is one. Throws if too many are waiting; the promise
   * rejects if the wait is too long.
   */
  take(caller: Caller | undefined): void | Promise<void>
  /** Frees the place of this caller. */
  leave(caller: Caller | undefined): void
  readonly waiting: number
}

export function makeConnectionTurns(
  places: number,
  mostWaiting: number,
  withinMs: number,
  ofTenant = places,
): ConnectionTurns {
  const queue = fairQueue<Waiter>()
  const heldBy = makeCounts()
  let free = places
  let gone = 0

  const hasItsShare = (tenantId: string): boolean => heldBy.of(tenantId) >= ofTenant

  function hold(tenantId: string, by: 1 | -1): void {
    heldBy.add(tenantId, by)
    free -= by
  }

  /** Gives the free places to waiters whose tenants may have one. */
  function giveOut(): void {
    while (free > 0) {
      const next = queue.next(hasItsShare)
      if (!next) return
      // A waiter that timed out is still in the queue.
      if (next.isGone) gone--
      else next.begin()
    }
  }

  function wait({ tenantId, id }: Caller): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        isGone: false,
        begin() {
          clearTimeout(timer)
          hold(tenantId, 1)
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
    take(caller = SERVICE_CALLER) {
      if (free > 0 && !hasItsShare(caller.tenantId)) return hold(caller.tenantId, 1)
      if (queue.size - gone >= mostWaiting)
        throw new StoreUnavailable('too many transactions are waiting', { trouble: 'busy' })
      return wait(caller)
    },
    leave(caller = SERVICE_CALLER) {
      hold(caller.tenantId, -1)
      if (queue.size > 0) giveOut()
    },
    get waiting() {
      return queue.size - gone
    },
  }
}
