// Long work of many callers, a step at a time: a turn of the event loop has one step of it, whoever has asked. Tenants
// take turns, and senders inside a tenant. Where each had its own turn, thirty bodies of a megabyte were thirty steps of
// a millisecond before anybody else was heard.
import { performance } from 'node:perf_hooks'
import { fairQueue } from './fair-queue.ts'

/** Lets the others have their turn. */
export type Pause = () => Promise<void>

/** For work that nobody can have much of at once. */
export const nextTurn: Pause = () => new Promise((resolve) => void setImmediate(resolve))

export interface StepTurns {
  /** Resolves when the next step may be done. */
  take(tenant: string, sender: string): Promise<void>
}

export interface TimedStepTurns extends StepTurns {
  /** Nobody waits, and this turn has taken less than so many milliseconds since its first step was asked for. */
  isFree(withinMs: number): boolean
}

export function makeStepTurns(now: () => number = () => performance.now()): TimedStepTurns {
  const queue = fairQueue<() => void>()
  let isTurnOpen = false
  let turnBegan = 0

  function openTurn(): void {
    isTurnOpen = true
    turnBegan = now()
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
    isFree(withinMs) {
      if (!isTurnOpen) openTurn()
      return queue.size === 0 && now() - turnBegan < withinMs
    },
  }
}
