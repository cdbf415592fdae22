// Runs long work of many callers a step at a time: a turn of the event loop has one step for all callers together.
// Tenants take turns, and senders inside a tenant. When each caller had its own step in a turn, thirty bodies of a
// megabyte were thirty steps of a millisecond before any other request was read.
import { performance } from 'node:perf_hooks'
import { fairQueue } from './fair-queue.ts'
import { yieldBetweenSteps, type YieldCpu } from './yield-cpu.ts'

/** Lets others have their turn, and resolves when the caller may go on. */
export type Pause = () => Promise<void>

/** A pause for work that no caller can have much of at once. */
export const nextTurn: Pause = () => new Promise((resolve) => void setImmediate(resolve))

/** Returns a pause that is told how much was done, and lets others have their turn once that is more than `most`. */
export function turnAfter(most: number): (done: number) => Promise<void> | undefined {
  let sum = 0
  return (done) => {
    sum += done
    if (sum <= most) return undefined
    sum = 0
    return nextTurn()
  }
}

/** Does work that yields after each of its steps, with a pause in between. */
export async function inSteps<T>(steps: Generator<void, T>, pause: Pause): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await pause()
  }
}

/** Does work that yields after each of its steps, without a pause. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

export interface StepTurns {
  /** Resolves when the next step may be done. */
  take(tenant: string, sender: string): Promise<void>
}

interface TimedStepTurns extends StepTurns {
  /** Whether nothing waits and this turn has taken less than `withinMs` since its first step was requested. */
  isFree(withinMs: number): boolean
}

/** The most turns that a step is followed by without another. */
const MOST_RESTED = 32

interface StepTurnsOptions {
  now?: () => number
  yieldCpu?: YieldCpu
  /**
   * For steps that may take several milliseconds each: how many turns without a step follow for each millisecond of a
   * turn with one. If nothing else is done, they take microseconds.
   */
  rest?: number
}

export function makeStepTurns({
  now = () => performance.now(),
  yieldCpu = yieldBetweenSteps,
  rest = 0,
}: StepTurnsOptions = {}): TimedStepTurns {
  const queue = fairQueue<() => void>()
  let isTurnOpen = false
  let turnBegan = 0
  let hadStep = false
  let resting = 0

  function openTurn(): void {
    isTurnOpen = true
    turnBegan = now()
    setImmediate(endTurn)
  }

  function endTurn(): void {
    isTurnOpen = false
    if (hadStep) resting = Math.min(MOST_RESTED, Math.floor((now() - turnBegan) * rest))
    hadStep = false
    if (resting > 0) {
      resting--
      return openTurn()
    }
    if (queue.size === 0) return
    yieldCpu()
    openTurn()
    hadStep = true
    queue.next()!()
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
