import type { MemoryUpdate } from '@sensorium/client'
import { UsageError, type ClientRun } from '../command.ts'
import { withoutUndefined, numberOf, readInput, readJson } from './support/read-input.ts'
import { showMemory } from './support/show-memory.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const { content, metadata, expires } = options
  const body = withoutUndefined({
    title: options['title'],
    content: content === undefined ? undefined : (await readInput(content)).trim(),
    importance: numberOf('--importance', options['importance']),
    confidence: numberOf('--confidence', options['confidence']),
    metadata: metadata === undefined ? undefined : await readJson('--metadata', metadata),
    expires_at: expires === '' ? null : expires,
  }) as MemoryUpdate // the service checks the words
  if (Object.keys(body).length === 0)
    throw new UsageError(
      'Say what changes: --title, --content, --importance, --confidence, --metadata or --expires',
      '--content <text>',
    )
  const json = await client.memory.update(args[0]!, body, { signal })
  return { json, text: showMemory(json, '') }
}
