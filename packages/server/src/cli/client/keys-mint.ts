import type { KeyMint } from '@sensorium/client'
import { UsageError, type ClientRun } from '../command.ts'
import { withoutUndefined, listOf } from './support/read-input.ts'

export const run: ClientRun = async ({ options, agent, client, signal }) => {
  if (options['scopes'] === undefined)
    throw new UsageError('Say what the key may do: --scopes send,receive', '--scopes <list>')
  const scopes = listOf(options['scopes']) as KeyMint['scopes'] // the service checks the words
  const body = { scopes, ...withoutUndefined({ expires_at: options['expires'] }) }
  const json = await client.keys.mint(await agent(), body, { signal })
  return { json, text: `Key ${json.id} may ${json.scopes.join(', ')}.\nAPI key (shown this once):  ${json.key}` }
}
