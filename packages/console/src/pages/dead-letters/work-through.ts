// Replays or discards many dead letters in small steps, so that how far it came can be shown, and it can be stopped
// between two of them.
import type { Client, DeadLetterFilter, DeadLetterList } from '@sensorium/client'

export type DeadLetterItem = DeadLetterList['dlq_items'][number]

export type Verb = 'replay' | 'discard'

/** Which ones: by their ids, or all that fit a filter. */
export type Choice = { ids: readonly string[] } | { filter: DeadLetterFilter; total: number }

/** About half a second of work for a small machine. */
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

/** Yields how many are done after each step. */
export async function* workThrough(client: Client, verb: Verb, choice: Choice): AsyncGenerator<number, void, void> {
  let done = 0
  if ('ids' in choice) {
    for (let at = 0; at < choice.ids.length; at += STEP) {
      done += (await step(client, verb, { delivery_ids: choice.ids.slice(at, at + STEP) })).done
      yield done
    }
    return
  }
  // What is replayed may fail again and be a dead letter once more: never more than there were at the beginning.
  while (done < choice.total) {
    const now = await step(client, verb, { filter: choice.filter })
    done += now.done
    yield done
    if (now.done === 0) return
  }
}
