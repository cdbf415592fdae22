import type { ClientRun } from '../command.ts'
import { noneOf } from '../terminal/none.ts'
import { list } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'
import { deadLetterFilter } from './support/dead-letter-filter.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'

export const run: ClientRun = async ({ options, client, signal }) => {
  const query = {
    ...deadLetterFilter(options),
    ...withoutUndefined({
      offset: numberOf('--offset', options['offset']),
      limit: numberOf('--limit', options['limit']),
    }),
  }
  const json = await client.deliveries.deadLetters(query, { signal })
  // An agent sees only its own.
  const isOfMany = (await client.agent({ signal })) === null
  const rows = json.dlq_items.map(
    ({ id, event_id, agent_id, payload, attempt_count, dlq_reason, dead_lettered_at }) => [
      id,
      event_id,
      ...(isOfMany ? [agent_id] : []),
      String(payload['type']),
      attempt_count,
      dlq_reason,
      when(dead_lettered_at),
    ],
  )
  const head = ['id', 'event', ...(isOfMany ? ['agent'] : []), 'type', 'attempts', 'reason', 'since']
  const none = noneOf(query, 'The dead-letter queue is empty.', 'No dead letter fits.')
  return { json, text: list(head, rows, { none, total: json.total }) }
}
