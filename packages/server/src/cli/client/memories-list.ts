import type { Operations } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { list } from '../terminal/table.ts'
import { when } from '../terminal/when.ts'
import { withoutUndefined, numberOf } from './read-input.ts'

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
  return { json, text: list(head, rows, { none: 'Nothing is remembered.', total: json.total }) }
}
