// MCP over standard input and output, for chat clients that start a program: the same tools, over HTTP to the service.
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { ConnectionError, createClient, parseExactly, type OperationId } from '@sensorium/client'
import { nextTurn } from '../kernel/step-turns.ts'
import { makeMcpServer } from './make-mcp-server.ts'
import type { ToolCaller } from './tool.ts'

/** A few seconds: programs that call tools give up on a call after a time of their own, often a minute. */
const ATTEMPTS = 8

interface StdioOptions {
  url: string
  apiKey: string
  version: string
  /** Called with errors outside the protocol. They cannot go to standard output, which belongs to the protocol. */
  report(error: Error): void
  /** Ends the wait for the service, before which nothing is served. */
  signal: AbortSignal
}

/** Serves until standard input ends. */
export async function serveMcpOverStdio({ url, apiKey, version, report, signal }: StdioOptions): Promise<void> {
  const client = createClient({ url, apiKey, attempts: ATTEMPTS, parse: parseExactly })
  const agent = await client.agent({ signal }).catch((error: unknown) => {
    if (!(error instanceof ConnectionError)) throw error
    // A chat client shows this as the reason why it has no tools.
    throw new ConnectionError(`${url} does not respond, so there are no tools`, { cause: error.cause })
  })
  function callerOf(signal: AbortSignal): ToolCaller {
    const call = ({ id }: { id: string }, input: object) =>
      client.call(id as OperationId, input as never, { signal }) as never
    return {
      id: agent?.id ?? '',
      pause: nextTurn,
      call,
      async *events(operation, input) {
        const result: { deliveries?: never[]; events?: never[] } = await call(operation, input)
        yield* result.deliveries ?? result.events ?? []
      },
    }
  }
  serveStdio(() => makeMcpServer(callerOf, { version, agentId: agent?.id ?? null, subscribes: false }), {
    onerror: report,
  })
  // A file or /dev/null emits `end` but not `close`; a destroyed stream emits `close` but not `end`.
  await new Promise((resolve) => process.stdin.once('end', resolve).once('close', resolve))
}
