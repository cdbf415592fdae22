import type { MemorySearch } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { paint } from '../terminal/screen.ts'
import { withoutUndefined, numberOf } from './read-input.ts'
import { showMemory } from './show-memory.ts'

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
  const found = json.results.map(({ memory, score, signals }) => {
    const shown = showMemory(memory, `${score.toFixed(2)}  `)
    if (signals === undefined) return shown
    const made = Object.entries(signals).map(([name, value]) => `${name} ${value.toFixed(2)}`)
    return `${shown}\n      ${paint('dim', made.join('  '))}`
  })
  return { json, text: found.length === 0 ? 'Nothing like it is remembered.' : found.join('\n\n') }
}
