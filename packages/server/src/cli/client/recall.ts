import type { MemorySearch } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { withoutUndefined, numberOf } from './read-input.ts'
import { showFound } from './show-memory.ts'

export const run: ClientRun = async ({ args, options, flags, client, signal }) => {
  const query = {
    query: args[0]!,
    ...withoutUndefined({
      limit: numberOf('--limit', options['limit']),
      type: options['type'],
      scope: options['scope'],
      min_confidence: numberOf('--min-confidence', options['min-confidence']),
      min_score: numberOf('--min-score', options['min-score']),
      explain: flags.has('explain') || undefined,
    }),
  } as MemorySearch // the service checks the words
  const json = await client.call('searchMemories', { body: query }, { signal })
  return { json, text: showFound(json.results, 'Nothing like it is remembered.') }
}
