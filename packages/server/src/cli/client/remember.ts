import type { NewMemory } from '@sensorium/client'
import { UsageError, type ClientRun } from '../command.ts'
import { withoutUndefined, numberOf, readInput } from './support/read-input.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const [title, given = '-'] = args
  if (given === '-' && process.stdin.isTTY) console.error('Type the content, then Ctrl-D:')
  const content = (await readInput(given)).trim()
  if (content === '')
    throw new UsageError('A memory needs a content: behind its title, or on standard input', '<content>')
  const memory = {
    title: title!,
    content,
    ...withoutUndefined({
      type: options['type'],
      scope: options['scope'],
      team_id: options['team'],
      importance: numberOf('--importance', options['importance']),
      confidence: numberOf('--confidence', options['confidence']),
      source_event_id: options['event'],
      expires_at: options['expires'],
    }),
  } as NewMemory // the service checks the words
  const json = await client.memory.remember(memory, { signal })
  const done = `Remembered as ${json.id} (${json.type}, ${json.scope}).`
  if (json.similar === undefined) return { json, text: done }
  const doubles = json.similar.map(({ id }) => id).join(' and ')
  return { json, text: `${done}\nIt says nearly the same as ${doubles}; see sensorium memories merge.` }
}
