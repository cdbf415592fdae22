// A store whose transactions begin when the test says so.
import type { Store } from '../../src/store/db.ts'
import { turnsUntil } from './turns-until.ts'

export interface HeldStore {
  store: Store
  /** Resolves when `count` transactions wait to begin. */
  untilWaiting(count: number): Promise<void>
  /** Lets the first or the last of the waiting transactions begin. */
  begin(which: 'first' | 'last'): void
  /** Lets all transactions begin until `work` has ended. */
  beginAll(work: Promise<unknown>): Promise<void>
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

export function heldStore(store: Store): HeldStore {
  const gates: (() => void)[] = []
  return {
    store: {
      ...store,
      async tx(work, options) {
        await new Promise<void>((resolve) => gates.push(resolve))
        return store.tx(work, options)
      },
    },
    untilWaiting: (count) => turnsUntil(() => gates.length >= count),
    begin: (which) => (which === 'first' ? gates.shift() : gates.pop())!(),
    async beginAll(work) {
      let isOver = false
      const over = work.finally(() => (isOver = true))
      while (!isOver) {
        for (const begin of gates.splice(0)) begin()
        await nextTurn()
      }
      await over
    },
  }
}
