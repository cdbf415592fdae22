import type { AgentCreate, KeyMint } from '@sensorium/client'
import { UsageError, type ClientRun } from '../command.ts'
import { nearest } from '../nearest.ts'
import { cleanLine } from '../terminal/clean.ts'
import { withoutUndefined, listOf } from './support/read-input.ts'

type Scope = KeyMint['scopes'][number]

/** As a record, so that the type check notices a scope that is missing here. */
const SCOPES: Readonly<Record<Scope, true>> = {
  send: true,
  receive: true,
  'memory:read': true,
  'memory:write': true,
  admin: true,
  'channel:read': true,
  'channel:write': true,
  'interests:read': true,
  'interests:write': true,
}

/** Checks the scopes before anything is done: the service would see them only after the agent is registered. */
function scopesOf(given: string): Scope[] {
  const known = Object.keys(SCOPES)
  const scopes = listOf(given)
  const wrong = scopes.find((scope) => !Object.hasOwn(SCOPES, scope))
  const expected = `--scopes ${known.join(',')}`
  if (scopes.length === 0) throw new UsageError('--scopes takes a list such as send,receive', expected)
  if (wrong === undefined) return scopes as Scope[]
  const meant = nearest(wrong, known)
  const hint = meant === null ? `The scopes are ${known.join(', ')}` : `Did you mean ${meant}?`
  throw new UsageError(`There is no scope ${cleanLine(wrong)}. ${hint}`, expected)
}

export const run: ClientRun = async ({ args, options, client, signal }) => {
  const scopes = options['scopes'] === undefined ? null : scopesOf(options['scopes'])
  const body = {
    name: args[0]!,
    delivery_mode: options['mode'] ?? 'poll',
    client_type: options['client-type'] ?? 'other',
    ...withoutUndefined({
      description: options['description'],
      team_id: options['team'],
      external_id: options['external-id'],
    }),
  } as AgentCreate // the service checks the words
  const agent = await client.agents.register(body, { signal })
  const text = `Agent ${cleanLine(agent.name)} is registered: ${agent.id}`
  const later = `sensorium keys mint --agent ${agent.id} --scopes ${scopes?.join(',') ?? 'send,receive'} gives it a key.`
  if (scopes === null) return { json: agent, text: `${text}\n${later}` }
  try {
    const minted = await client.keys.mint(agent.id, { scopes }, { signal })
    return { json: { ...agent, key: minted }, text: `${text}\nAPI key (shown this once):  ${minted.key}` }
  } catch (error) {
    return { json: agent, text: `${text}\nNo key was minted. ${later}`, failedWith: error }
  }
}
