import type { ClientRun } from '../command.ts'
import { list } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'
import { deadLetterFilter } from './dead-letter-filter.ts'
import { withoutUndefined, numberOf } from './read-input.ts'

export const run: ClientRun = async ({ options, client, signal }) => {
  const query = {
    ...deadLetterFilter(options),
    ...withoutUndefined({
      offset: numberOf('--offset', options['offset']),
      limit: numberOf('--limit', options['limit']),
    }),
  }
  const json = await client.deliveries.deadLetters(query, { signal })
  const rows = json.dlq_items.map(({ id, payload, attempt_count, dlq_reason, dead_lettered_at }) => [
    id,
    String(payload['type']),
    attempt_count,
    dlq_reason,
    when(dead_lettered_at),
  ])
  const none = 'The dead-letter queue is empty.'
  return { json, text: list(['id', 'type', 'attempts', 'reason', 'since'], rows, { none, total: json.total }) }
}
