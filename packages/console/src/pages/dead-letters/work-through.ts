// Replays or discards many dead letters in small steps, so that the progress can be shown and the work can be stopped
// between two steps.
import type { Client, DeadLetterFilter, DeadLetterList } from '@sensorium/client'

export type DeadLetterItem = DeadLetterList['dlq_items'][number]

export type Verb = 'replay' | 'discard'

/** The chosen dead letters: by their ids, or all that pass a filter. */
export type Choice = { ids: readonly string[] } | { filter: DeadLetterFilter; total: number }

/** Letters per step: about half a second of work for a small machine. */
const STEP = 100

type Step = { delivery_ids: string[] } | { filter: DeadLetterFilter; limit: number }

/** Returns how many letters were replayed or discarded. */
async function take(client: Client, verb: Verb, step: Step): Promise<number> {
  return verb === 'replay'
    ? (await client.deliveries.replayMany(step)).replayed
    : (await client.deliveries.discardMany(step)).discarded
}

export const totalOf = (choice: Choice): number => ('ids' in choice ? choice.ids.length : choice.total)

/** Yields the number of letters done so far after each step. */
export async function* workThrough(client: Client, verb: Verb, choice: Choice): AsyncGenerator<number, void, void> {
  let done = 0
  if ('ids' in choice) {
    for (let at = 0; at < choice.ids.length; at += STEP) {
      done += await take(client, verb, { delivery_ids: choice.ids.slice(at, at + STEP) })
      yield done
    }
    return
  }
  // Never more than the number that the user was shown, whatever fits the filter by now: a discarded letter is gone for
  // good, and a replayed delivery may fail again and become a dead letter once more.
  while (done < choice.total) {
    const limit = Math.min(STEP, choice.total - done)
    const taken = await take(client, verb, { filter: choice.filter, limit })
    done += taken
    yield done
    if (taken === 0) return
  }
}
