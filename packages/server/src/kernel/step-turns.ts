// Long work of many callers, a step at a time: a turn of the event loop has one step of it, whoever has asked. Tenants
// take turns, and senders inside a tenant. Where each had its own turn, thirty bodies of a megabyte were thirty steps of
// a millisecond before anybody else was heard.
import { fairQueue } from './fair-queue.ts'

/** Lets the others have their turn. */
export type Pause = () => Promise<void>

/** For work that nobody can have much of at once. */
export const nextTurn: Pause = () => new Promise((resolve) => void setImmediate(resolve))

export interface StepTurns {
  /** Resolves when the next step may be done. */
  take(tenant: string, sender: string): Promise<void>
}

export function makeStepTurns(): StepTurns {
  const queue = fairQueue<() => void>()
  let isTurnOpen = false

  function openTurn(): void {
    isTurnOpen = true
    setImmediate(() => {
      isTurnOpen = false
      if (queue.size === 0) return
      openTurn()
      queue.take(() => true)[0]!()
    })
  }

  return {
    take(tenant, sender) {
      return new Promise((resolve) => {
        queue.push(tenant, sender, resolve)
        if (!isTurnOpen) openTurn()
      })
    },
  }
}
