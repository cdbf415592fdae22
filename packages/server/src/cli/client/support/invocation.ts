// Prepares what a command that calls a service receives: a client with a key.
import { createClient, parseExactly } from '@sensorium/client'
import { UsageError, type ClientInvocation, type ParsedInput } from '../../command.ts'
import { sessionOf } from './session.ts'

/** A person is waiting: three attempts take about a second, plus any delay that the service asks for. */
export const ATTEMPTS = 3

interface InvocationTools {
  env: NodeJS.ProcessEnv
  print: ClientInvocation['print']
  write: ClientInvocation['write']
  warn(sentence: string): void
  signal: AbortSignal
}

export function clientInvocation(
  parsed: ParsedInput,
  { env, print, write, warn, signal }: InvocationTools,
): ClientInvocation {
  const session = sessionOf(parsed.options, env, warn)
  const client = createClient({ url: session.url, apiKey: session.key, attempts: ATTEMPTS, parse: parseExactly })
  async function agent(): Promise<string> {
    const named = parsed.options['agent']
    if (named !== undefined) return named
    const own = await client.agent({ signal })
    if (own) return own.id
    throw new UsageError("This is an org-admin's key. Name the agent with --agent <id>", '--agent <id>')
  }
  return { ...parsed, client, session, agent, print, write, signal }
}
