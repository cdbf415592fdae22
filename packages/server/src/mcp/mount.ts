// MCP over streamable HTTP at /mcp: who may send messages there, and which requests are refused before a message is
// handled.
import { bearer } from '../http/authenticate.ts'
import { makeBodyTurns } from '../http/body-turns.ts'
import type { Exchange } from '../http/exchange.ts'
import { abortSignalOf } from '../http/gone-signal.ts'
import type { Mount } from '../http/mount.ts'
import { makeAuthenticate } from './authenticate.ts'
import { makeHandleMessages, type HandleTools } from './handle-messages.ts'
import { makeOutlet } from './outlet.ts'
import { readMessages } from './read-messages.ts'

interface McpTools extends HandleTools {
  publicUrl: string | null
}

/** The library refuses more messages than this in one request. */
const MAX_BATCH = 100

const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/

/**
 * Only pages of the service itself may call it from a browser, under a host name known to be the service's. Otherwise a
 * page could point its own host name at a service in its visitor's network, and reach it (DNS rebinding).
 */
function isForeignPage({ headers: { origin, host = '' } }: Exchange, publicHost: string | null): boolean {
  if (origin === undefined) return false
  if (!URL.canParse(origin) || new URL(origin).host !== host) return true
  return host !== publicHost && !LOCAL.test(host)
}

/** Answers a request that is refused as a whole. */
const refuse = (exchange: Exchange, status: number, code: number, message: string): Promise<void> =>
  makeOutlet().write(exchange, Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status }))

export function mcpMount(tools: McpTools): Mount {
  const { operations, identify, maxBytes, publicUrl } = tools
  const bodyTurns = makeBodyTurns()
  const publicHost = publicUrl === null ? null : new URL(publicUrl).host
  const authenticate = makeAuthenticate(operations, identify)
  const handleMessages = makeHandleMessages(tools)

  async function serve(exchange: Exchange, identified: () => void): Promise<void> {
    if (isForeignPage(exchange, publicHost)) return refuse(exchange, 403, -32000, 'Pages of other origins are refused')
    const { requestId, clientAddress } = exchange
    const gone = abortSignalOf(exchange.signal())
    const token = bearer(exchange)
    const reauthenticate = () => authenticate(token, { requestId, clientAddress })
    const principal = await reauthenticate()
    exchange.principal = principal
    identified()
    // Each message counts as a request, in addition to the operations that its tool calls.
    await operations.admit(principal, {}, exchange)
    const messages = await readMessages(exchange, maxBytes, bodyTurns)
    if (messages?.ok === false) return refuse(exchange, 400, messages.code, messages.problem)
    for (let i = 1; i < Math.min(messages?.count ?? 0, MAX_BATCH); i++) await operations.admit(principal, {}, {})
    await handleMessages({ exchange, principal, token, messages, gone, reauthenticate })
  }

  return {
    prefix: '/mcp',
    async handle(exchange, identified) {
      try {
        await serve(exchange, identified)
      } catch (error) {
        if (!exchange.isClientGone()) throw error // otherwise the client has disconnected
      }
    },
  }
}
