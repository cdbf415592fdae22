// Handles the messages of one request with the library's handler, and writes their response as fast as the client takes
// it. Requests share no state, so any node can take the next one.
import { createMcpHandler, type AuthInfo } from '@modelcontextprotocol/server'
import type { Identify } from '../auth/identify.ts'
import { isOrgAdmin, type Principal } from '../auth/principal.ts'
import type { Wakeups } from '../delivery/wake.ts'
import type { Exchange } from '../http/exchange.ts'
import { largeResponses } from '../http/large-responses.ts'
import type { Clock } from '../kernel/clock.ts'
import { unauthenticated } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import { makeStepTurns } from '../kernel/step-turns.ts'
import type { CallOptions } from '../operations/call.ts'
import type { Operations } from '../operations/perform.ts'
import { boundExchange, type Bounds } from './bound-exchange.ts'
import { callerInProcess } from './caller.ts'
import { makeMailboxBus } from './mailbox-bus.ts'
import { makeMcpServer } from './make-mcp-server.ts'
import { makeOutlet } from './outlet.ts'
import { isListening, type Messages } from './read-messages.ts'
import { makeResultTurn } from './result-turn.ts'
import { makeSubscriptions, MAX_SUBSCRIPTIONS } from './subscriptions.ts'

export interface HandleTools {
  operations: Operations
  identify: Identify
  wakeups: Wakeups
  clock: Clock
  log: Logger
  version: string
  /** The size of the largest event, and a little more for the message around it. */
  maxBytes: number
}

/** A request whose caller is known and whose messages have arrived; undefined if it has none. */
interface Arrived {
  exchange: Exchange
  principal: Principal
  token: string
  messages: Messages | undefined
  /** Stops when the client disconnects, or the node shuts down. */
  gone: AbortSignal
  /** Rejects if the token is no longer one. */
  reauthenticate(): Promise<unknown>
}

/** The library requires a URL, and nothing depends on it. `Host` is not used, because it may not fit into a URL. */
const ADDRESS = 'http://localhost/mcp'

interface Extra extends Record<string, unknown> {
  principal: Principal
  options: CallOptions
  bounds: Bounds
}

function headersOf({ headers }: Exchange): Headers {
  const copied = new Headers()
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') copied.set(name, value)
  return copied
}

/** The options of the operations that tool calls perform. A tool call ends with the request that carries it. */
const optionsOf = ({ exchange, gone }: Arrived): CallOptions => ({
  requestId: exchange.requestId,
  clientAddress: exchange.clientAddress,
  brief: true,
  signal: () => gone,
  isClientGone: () => exchange.isClientGone(),
})

export function makeHandleMessages(tools: HandleTools): (arrived: Arrived) => Promise<void> {
  const { operations, identify, wakeups, clock, log, version, maxBytes } = tools
  const messageTurns = makeStepTurns()
  const longResults = largeResponses()
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

  return async (arrived) => {
    const { exchange, principal, token, messages, gone } = arrived
    async function requireStanding(): Promise<void> {
      if (!(await identify.stands(principal))) throw unauthenticated()
    }
    // Whether the key stands is read from the store. Exchanging it again would be refused with 429 if the client's
    // address has used up its failed exchanges; that is done only when the last token has expired.
    async function verify(): Promise<void> {
      await requireStanding()
      await arrived.reauthenticate()
    }
    async function turn(): Promise<void> {
      await messageTurns.take(principal.tenantId, principal.id)
      gone.throwIfAborted()
    }
    async function mayBegin(): Promise<void> {
      await turn()
      // The messages took as long to arrive as the client liked.
      await requireStanding()
    }
    const subscription = isListening(messages) ? subscriptions.open(principal.id, verify) : null
    const outlet = makeOutlet()
    const resultTurn = makeResultTurn(longResults, principal, () => exchange.front())
    try {
      const signal = subscription ? AbortSignal.any([gone, subscription.signal]) : gone
      const request = new Request(ADDRESS, { method: exchange.method, headers: headersOf(exchange), signal })
      const extra: Extra = { principal, options: optionsOf(arrived), bounds: { mayBegin, turn, outlet, resultTurn } }
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
}
