// Requests that wait on the clock of a test: if it moved before they sleep, they would miss it.
import type { FakeClock } from './fake-clock.ts'
import { turnsUntil } from './turns-until.ts'

export interface Asleep<T> {
  result: Promise<T>
  hasEnded(): boolean
}

/** Begins work that waits on the clock. Resolves when it sleeps, or has ended without sleeping. */
export async function asleep<T>(clock: FakeClock, begin: () => Promise<T>): Promise<Asleep<T>> {
  await clock.rest()
  const others = clock.sleepers()
  let hasEnded = false
  const end = (): void => void (hasEnded = true)
  const result = begin()
  result.then(end, end)
  await turnsUntil(() => hasEnded || clock.sleepers() > others)
  return { result, hasEnded: () => hasEnded }
}

/** Begins such work and lets time pass, a second at a time, until it has ended. */
export async function sleptOut<T>(clock: FakeClock, begin: () => Promise<T>): Promise<T> {
  const { result, hasEnded } = await asleep(clock, begin)
  while (!hasEnded()) await clock.advance(1_000)
  return result
}
