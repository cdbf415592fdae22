// What a command that calls a service is given: a client, signed in.
import { createClient } from '@sensorium/client'
import { Interrupted, Misused, type ClientInvocation, type Given, type CommandResult } from '../command.ts'
import { sessionOf } from './session.ts'

/** A person waits: three attempts last about a second, and what the service asks for. */
export const ATTEMPTS = 3

export function clientInvocation(
  given: Given,
  env: NodeJS.ProcessEnv,
  print: (outcome: CommandResult) => void,
): ClientInvocation {
  const session = sessionOf(given.options, env, (sentence) => console.error(sentence))
  const client = createClient({ url: session.url, apiKey: session.key, attempts: ATTEMPTS })
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // The second one ends the process at once.
    process.once(signal, () => ended.abort(new Interrupted('Interrupted.')))
  }
  async function agent(): Promise<string> {
    const named = given.options['agent']
    if (named !== undefined) return named
    const own = await client.agent()
    if (own) return own.id
    throw new Misused("This is an org-admin's key. Name the agent with --agent <id>", '--agent <id>')
  }
  return { ...given, client, session, agent, print, signal: ended.signal }
}
