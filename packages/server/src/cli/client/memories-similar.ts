import type { ClientRun } from '../command.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'
import { showFound } from './support/show-memory.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const query = withoutUndefined({ limit: numberOf('--limit', options['limit']) })
  const json = await client.call('findSimilarMemories', { params: { id: args[0]! }, query }, { signal })
  return { json, text: showFound(json.results, 'There is no other memory.') }
}
