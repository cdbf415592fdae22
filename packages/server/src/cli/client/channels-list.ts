import type { ClientRun } from '../command.ts'
import { noneOf } from '../terminal/none.ts'
import { list } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'

export const run: ClientRun = async ({ options, client, signal }) => {
  const query = withoutUndefined({
    offset: numberOf('--offset', options['offset']),
    limit: numberOf('--limit', options['limit']),
  })
  const json = await client.channels.list(query, { signal })
  const rows = json.channels.map(({ id, name, type, description, created_at }) => [
    id,
    name,
    type,
    description,
    when(created_at),
  ])
  const head = ['id', 'name', 'type', 'description', 'since']
  const none = noneOf(query, 'There is no channel.', 'No channel fits.')
  return { json, text: list(head, rows, { none, total: json.total }) }
}
