// Replays or discards many dead letters in small steps, so that the progress can be shown and the work can be stopped
// between two steps.
import type { Client, DeadLetterFilter, DeadLetterList } from '@sensorium/client'

export type DeadLetterItem = DeadLetterList['dlq_items'][number]

export type Verb = 'replay' | 'discard'

/** The chosen dead letters: by their ids, or all that pass a filter. */
export type Choice = { ids: readonly string[] } | { filter: DeadLetterFilter; total: number }

/** Letters per step: about half a second of work for a small machine. */
const STEP = 100

async function step(client: Client, verb: Verb, choice: { delivery_ids: string[] } | { filter: DeadLetterFilter }) {
  const body = 'filter' in choice ? { ...choice, limit: STEP } : choice
  if (verb === 'replay') {
    const { matched, replayed } = await client.deliveries.replayMany(body)
    return { matched, done: replayed }
  }
  const { matched, discarded } = await client.deliveries.discardMany(body)
  return { matched, done: discarded }
}

export const totalOf = (choice: Choice): number => ('ids' in choice ? choice.ids.length : choice.total)

/** Yields the number of letters done so far after each step. */
export async function* workThrough(client: Client, verb: Verb, choice: Choice): AsyncGenerator<number, void, void> {
  let done = 0
  if ('ids' in choice) {
    for (let at = 0; at < choice.ids.length; at += STEP) {
      done += (await step(client, verb, { delivery_ids: choice.ids.slice(at, at + STEP) })).done
      yield done
    }
    return
  }
  // A replayed delivery may fail again and become a dead letter once more, so the loop never handles more than there
  // were at the beginning.
  while (done < choice.total) {
    const now = await step(client, verb, { filter: choice.filter })
    done += now.done
    yield done
    if (now.done === 0) return
  }
}
