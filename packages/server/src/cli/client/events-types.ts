import type { ClientRun } from '../command.ts'
import { noneOf } from '../terminal/none.ts'
import { list } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'
import { numberOf } from './support/read-input.ts'

export const run: ClientRun = async ({ options, client, signal }) => {
  const query = {
    offset: numberOf('--offset', options['offset']),
    limit: numberOf('--limit', options['limit']),
  }
  const json = await client.events.types(query, { signal })
  const rows = json.types.map(({ type, count, listeners, last_at }) => [type, count, listeners, when(last_at)])
  const none = noneOf(query, 'Nothing was published yet.', 'No type fits.')
  return { json, text: list(['type', 'events', 'listeners', 'last'], rows, { none, total: json.total }) }
}
