import type { MemorySearch } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { noneOf } from '../terminal/none.ts'
import { withoutUndefined, numberOf } from './support/read-input.ts'
import { showFound } from './support/show-memory.ts'

export const run: ClientRun = async ({ args, options, flags, client, signal }) => {
  const filter = withoutUndefined({
    type: options['type'],
    scope: options['scope'],
    min_confidence: numberOf('--min-confidence', options['min-confidence']),
    min_score: numberOf('--min-score', options['min-score']),
  })
  const body = {
    query: args[0]!,
    ...filter,
    ...withoutUndefined({
      limit: numberOf('--limit', options['limit']),
      explain: flags.has('explain') || undefined,
    }),
  } as MemorySearch // the service checks the words
  const json = await client.call('searchMemories', { body }, { signal })
  const none = noneOf(filter, 'Nothing like it is remembered.', 'No memory fits.')
  return { json, text: showFound(json.results, none) }
}
