import type { ChannelCreate } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { cleanLine } from '../terminal/clean.ts'
import { withoutUndefined } from './support/read-input.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const body = {
    name: args[0]!,
    type: options['type'] ?? 'open',
    ...withoutUndefined({ description: options['description'] }),
  } as ChannelCreate // the service checks the word
  const json = await client.channels.create(body, { signal })
  return { json, text: `Channel ${cleanLine(json.name)} is created: ${json.id}` }
}
