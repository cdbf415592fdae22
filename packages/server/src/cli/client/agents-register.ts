import type { AgentCreate, KeyMint } from '@sensorium/client'
import type { ClientRun } from '../command.ts'
import { cleanLine } from '../terminal/clean.ts'
import { withoutUndefined, listOf } from './read-input.ts'

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const body = {
    name: args[0]!,
    delivery_mode: options['mode'] ?? 'poll',
    client_type: options['client-type'] ?? 'other',
    ...withoutUndefined({ description: options['description'], team_id: options['team'] }),
  } as AgentCreate // the service checks the words
  const agent = await client.agents.register(body, { signal })
  const text = `Agent ${cleanLine(agent.name)} is registered: ${agent.id}`
  if (options['scopes'] === undefined)
    return {
      json: agent,
      text: `${text}\nsensorium keys mint --agent ${agent.id} --scopes send,receive gives it a key.`,
    }
  const scopes = listOf(options['scopes']) as KeyMint['scopes']
  const minted = await client.keys.mint(agent.id, { scopes }, { signal })
  return { json: { ...agent, key: minted }, text: `${text}\nAPI key (shown this once):  ${minted.key}` }
}
