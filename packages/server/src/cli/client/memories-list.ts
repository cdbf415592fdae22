import type { Operations } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { noneOf } from '../terminal/none.ts'
import { list } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'

export const run: ClientRun = async ({ options, client, signal }) => {
  const query = withoutUndefined({
    type: options['type'],
    scope: options['scope'],
    search: options['search'],
    offset: numberOf('--offset', options['offset']),
    limit: numberOf('--limit', options['limit']),
  }) as Operations['listMemories']['query'] // the service checks the words
  const json = await client.memory.list(query, { signal })
  const rows = json.memories.map(({ id, title, type, scope, created_at }) => [id, title, type, scope, when(created_at)])
  const head = ['id', 'title', 'type', 'scope', 'since']
  const none = noneOf(query, 'Nothing is remembered.', 'No memory fits.')
  return { json, text: list(head, rows, { none, total: json.total }) }
}
