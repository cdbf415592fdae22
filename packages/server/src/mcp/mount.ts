// MCP over streamable HTTP at /mcp: bytes in, bytes out, around the library's handler. Requests share no state, so any
// node can take the next one.
import { createMcpHandler, type AuthInfo } from '@modelcontextprotocol/server'
import type { Identify } from '../auth/identify.ts'
import { isOrgAdmin, type Principal } from '../auth/principal.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { bearer } from '../http/authenticate.ts'
import { makeBodyTurns } from '../http/body-turns.ts'
import type { Exchange } from '../http/exchange.ts'
import { abortSignalOf } from '../http/gone-signal.ts'
import { largeResponses } from '../http/large-responses.ts'
import type { Mount } from '../http/mount.ts'
import type { Clock } from '../kernel/clock.ts'
import { unauthenticated } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import { makeStepTurns } from '../kernel/step-turns.ts'
import type { CallOptions } from '../operations/call.ts'
import type { Operations } from '../operations/perform.ts'
import { makeAuthenticate } from './authenticate.ts'
import { boundExchange, type Bounds } from './bound-exchange.ts'
import { callerInProcess } from './caller.ts'
import { makeMailboxBus } from './mailbox-bus.ts'
import { makeMcpServer } from './make-mcp-server.ts'
import { isListening, readMessages } from './read-messages.ts'
import { makeOutlet } from './outlet.ts'
import { makeResultTurn } from './result-turn.ts'
import { makeSubscriptions, MAX_SUBSCRIPTIONS } from './subscriptions.ts'

interface McpTools {
  operations: Operations
  identify: Identify
  wakeups: Wakeups
  clock: Clock
  log: Logger
  version: string
  /** The size of the largest event, and a little more for the message around it. */
  maxBytes: number
  publicUrl: string | null
}

/** The library requires a URL, and nothing depends on it. `Host` is not used, because it may not fit into a URL. */
const ADDRESS = 'http://localhost/mcp'
/** The library refuses more messages than this in one request. */
const MAX_BATCH = 100

interface Extra extends Record<string, unknown> {
  principal: Principal
  options: CallOptions
  bounds: Bounds
}

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

const refusal = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })

function headersOf({ headers }: Exchange): Headers {
  const copied = new Headers()
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') copied.set(name, value)
  return copied
}

export function mcpMount(tools: McpTools): Mount {
  const { operations, identify, wakeups, clock, log, version, maxBytes, publicUrl } = tools
  const bodyTurns = makeBodyTurns()
  const messageTurns = makeStepTurns()
  const longResults = largeResponses()
  const publicHost = publicUrl === null ? null : new URL(publicUrl).host
  const authenticate = makeAuthenticate(operations, identify)
  const bus = makeMailboxBus(wakeups)
  const subscriptions = makeSubscriptions(clock)
  const handler = createMcpHandler(
    ({ authInfo, era }) => {
      const { principal, options, bounds } = authInfo!.extra as Extra
      const { turn: pause, resultTurn } = bounds
      const caller = callerInProcess({ operations, principal, options, pause, resultTurn })
      // A call ends with the HTTP request that carries it. Before protocol 2026-07-28, subscribing needs a session.
      return boundExchange(
        makeMcpServer(() => caller, {
          version,
          agentId: isOrgAdmin(principal) ? null : principal.id,
          subscribes: era === 'modern',
        }),
        bounds,
      )
    },
    {
      bus,
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      maxRequestBodySize: maxBytes,
      onerror: (error) => log.debug({ err: error }, 'an MCP request was refused'),
    },
  )

  async function serve(exchange: Exchange, identified: () => void): Promise<void> {
    const outlet = makeOutlet()
    const refuse = (...given: Parameters<typeof refusal>) => outlet.write(exchange, refusal(...given))
    if (isForeignPage(exchange, publicHost)) return refuse(403, -32000, 'Pages of other origins are refused')
    const { requestId, clientAddress } = exchange
    const gone = abortSignalOf(exchange.signal())
    const token = bearer(exchange)
    const principal = await authenticate(token, { requestId, clientAddress })
    exchange.principal = principal
    identified()
    // Each message counts as a request, in addition to the operations that its tool calls.
    await operations.admit(principal, {}, exchange)
    const messages = await readMessages(exchange, maxBytes, bodyTurns)
    if (messages?.ok === false) return refuse(400, messages.code, messages.problem)
    for (let i = 1; i < Math.min(messages?.count ?? 0, MAX_BATCH); i++) await operations.admit(principal, {}, {})

    // Whether the key stands is read from the store. Exchanging it again would be refused with 429 if the client's
    // address has used up its failed exchanges; that is done only when the last token has expired.
    async function verify(): Promise<void> {
      if (!(await identify.stands(principal))) throw unauthenticated()
      await authenticate(token, { requestId, clientAddress })
    }
    const subscription = isListening(messages) ? subscriptions.open(principal.id, verify) : null
    const resultTurn = makeResultTurn(longResults, principal, () => exchange.front())
    try {
      const signal = subscription ? AbortSignal.any([gone, subscription.signal]) : gone
      const request = new Request(ADDRESS, { method: exchange.method, headers: headersOf(exchange), signal })
      // A tool call ends with the request that carries it.
      const options: CallOptions = {
        requestId,
        clientAddress,
        brief: true,
        signal: () => gone,
        isClientGone: () => exchange.isClientGone(),
      }
      async function turn(): Promise<void> {
        await messageTurns.take(principal.tenantId, principal.id)
        gone.throwIfAborted()
      }
      async function mayBegin(): Promise<void> {
        await turn()
        // The messages took as long to arrive as the client liked.
        if (!(await identify.stands(principal))) throw unauthenticated()
      }
      const extra: Extra = { principal, options, bounds: { mayBegin, turn, outlet, resultTurn } }
      const authInfo: AuthInfo = { token, clientId: principal.id, scopes: [...principal.scopes], extra }
      const given = { authInfo, ...(messages ? { parsedBody: messages.value } : {}) }
      await mayBegin()
      const subscriber = { recipientId: principal.id, taken: outlet.taken }
      await outlet.write(exchange, await bus.runAs(subscriber, () => handler.fetch(request, given)))
    } finally {
      subscription?.close()
      outlet.close()
      resultTurn.close()
    }
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
