// Sends one POST to an endpoint. No redirect is followed, the body of the response is discarded, and everything has a
// time limit.
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Mailbox } from '../delivery/sql.ts'
import { beginningOf } from '../kernel/beginning-of.ts'
import type { Clock } from '../kernel/clock.ts'
import { http } from '../kernel/node-http.ts'
import { drain, parseInSlices } from './drain.ts'
import { AgentInTurns, makeHandshakes, type InTurn } from './handshakes.ts'
import type { PushResult } from './outcome.ts'
import { makeResolve } from './resolve.ts'
import { AddressRefused, isPublicAddress, safeAddress, type SafeAddress } from './safe-address.ts'

export const RESPONSE_WITHIN_MS = 15_000
/**
 * Interim responses (1xx) before the real one. Without a limit, 32 requests to an endpoint that sent nothing else held
 * up the event loop for 5 s.
 */
const MAX_INTERIM = 10

/** A push that waited for longer to connect, and then was not connected in time, is not held against its endpoint. */
const LATE_MS = 1_000

export const INTERRUPTED = 'interrupted: the node was shutting down'

export interface Post {
  /** `waitedMs` is how long the push has waited already, which counts toward its time limit. */
  (url: string, headers: Record<string, string>, body: string, mailbox: Mailbox, waitedMs?: number): Promise<PushResult>
  /** Aborts every exchange under way, and closes all connections. */
  close(): void | Promise<void>
}

// Idle connections are kept for a few seconds: as many as an endpoint has requests at once. With 16, https pushes came in
// bursts and half of them made a new connection: 840 µs of CPU a push instead of 520.
const KEPT = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 32, timeout: 4_000 } as const

const MAX_ERROR = 200

// Shows the code of a system call and not its message, which names the address.
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof AddressRefused || error instanceof ExchangeAborted) return error.message
  const text = error.syscall && error.code ? error.code : error.message || error.code || 'unknown'
  return beginningOf(`connection failed: ${text}`, MAX_ERROR)
}

/** One exchange under way. All have the same timeout, so they time out in the order in which they began. */
interface UnderWay {
  until: number
  request: ClientRequest | null
  cutBy: ExchangeAborted | null
  /** Set while a connection is needed and waits for its turn: ends the wait. A request without a connection cannot. */
  leaveLine: ((error: Error) => void) | null
  /** Whether that took so long that too little time may be left for the endpoint. */
  isLate: boolean
  /** The endpoint has taken the connection, and its certificate is not accepted yet. */
  isHandshaking: boolean
}

interface Agents {
  'http:': Agent
  'https:': https.Agent
}

/**
 * Sends one request on a kept or a new connection; `stale` if the kept one turned out to be closed. `inTurn` is called
 * for a new connection to https.
 */
function sendOnce(
  url: URL,
  headers: Record<string, string>,
  body: Buffer,
  exchange: UnderWay,
  agents: Agents,
  lookup: LookupFunction,
  inTurn: InTurn,
): Promise<PushResult | 'stale'> {
  const failure = (error: string): PushResult => {
    const { cutBy, leaveLine, isLate, isHandshaking } = exchange
    if (leaveLine !== null) return { error, notSent: true }
    if (isLate && isHandshaking && cutBy) return { error, isLate }
    // One that we have cut off may have been answered while the thread was busy.
    return isHandshaking && !cutBy ? { error, failedHandshake: true } : { error }
  }
  return new Promise((resolve) => {
    const secure = url.protocol === 'https:'
    const request = (secure ? https : http).request(url, {
      method: 'POST',
      agent: agents[secure ? 'https:' : 'http:'],
      lookup,
      inTurn,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': body.length,
        'user-agent': 'Sensorium/1.0',
      },
    } as https.RequestOptions)
    exchange.request = request
    if (exchange.cutBy) request.destroy(exchange.cutBy)
    // Once there is a status, it decides: whatever happens to the connection afterwards, the endpoint has responded.
    let received: PushResult | null = null
    const receive = ({ statusCode, headers }: IncomingMessage): void => {
      received = { status: statusCode ?? 0, retryAfter: headers['retry-after'] }
    }
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The endpoint closed a kept connection at the moment it was reused, which is nobody's failure.
      const stale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      resolve(received ?? (stale ? 'stale' : failure(describe(error))))
    })
    request.on('socket', (socket) => {
      parseInSlices(socket)
      if (!secure || request.reusedSocket) return
      socket.once('connect', () => (exchange.isHandshaking = true))
      socket.once('secureConnect', () => (exchange.isHandshaking = false))
    })
    let interim = 0
    request.on('information', () => {
      if (++interim === MAX_INTERIM + 1) request.destroy(new ExchangeAborted('too many 1xx responses'))
    })
    request.on('upgrade', (response, socket) => {
      receive(response)
      socket.destroy()
    })
    request.on('response', (response) => {
      receive(response)
      drain(response, () => resolve(received!))
    })
    // Comes last in every exchange, and also where Node.js reports neither an error nor the end of a response.
    request.on('close', () => resolve(received ?? failure('connection failed: closed without a response')))
    request.end(body)
  })
}

/** Pushes to public addresses only, unless all are allowed. */
export const makePublicPost = (clock: Clock, { allowPrivate }: { allowPrivate: boolean }): Post =>
  makePost(clock, safeAddress(makeResolve({ elapsed: clock.elapsed }), allowPrivate ? () => true : isPublicAddress))

export function makePost(clock: Clock, { checkLiteral, lookupFor }: SafeAddress): Post {
  const agents: Agents = { 'http:': new http.Agent(KEPT), 'https:': new AgentInTurns(KEPT) }
  const underWay = new Set<UnderWay>()
  const closing = new AbortController()
  const handshakes = makeHandshakes(clock, closing.signal)
  let watching = false

  function cut(exchange: UnderWay, why: string): void {
    underWay.delete(exchange)
    exchange.cutBy = new ExchangeAborted(why)
    exchange.request?.destroy(exchange.cutBy)
    exchange.leaveLine?.(exchange.cutBy)
  }

  // One timer for all: a timer and two signals for each push were a quarter of the cost of a push.
  async function watch(): Promise<void> {
    if (watching) return
    watching = true
    while (underWay.size > 0) {
      const [oldest] = underWay
      await clock.sleep(Math.max(1, oldest!.until - clock.elapsed()), closing.signal)
      for (const exchange of underWay) {
        if (closing.signal.aborted) cut(exchange, INTERRUPTED)
        else if (exchange.until <= clock.elapsed()) cut(exchange, `no response within ${RESPONSE_WITHIN_MS / 1000} s`)
        else break
      }
    }
    watching = false
  }

  function sendInTurn(
    url: URL,
    headers: Record<string, string>,
    body: Buffer,
    { tenantId, recipientId }: Mailbox,
    exchange: UnderWay,
  ) {
    return sendOnce(url, headers, body, exchange, agents, lookupFor(tenantId), async (connect) => {
      const since = clock.elapsed()
      const turn = handshakes.begin(recipientId, url.origin)
      const left = new Promise<never>((_, reject) => (exchange.leaveLine = reject))
      const ended = await Promise.race([turn, left]).catch((error: Error) => {
        void turn.then((end) => end(null))
        throw error
      })
      exchange.leaveLine = null
      exchange.isLate = clock.elapsed() - since > LATE_MS
      try {
        const socket = connect()
        socket.once('secureConnect', () => ended(true))
        socket.once('close', () => ended(false))
        return socket
      } catch (error) {
        ended(false)
        throw error
      }
    })
  }

  async function exchangeWith(
    url: URL,
    headers: Record<string, string>,
    body: Buffer,
    mailbox: Mailbox,
    waitedMs: number,
  ): Promise<PushResult> {
    const until = clock.elapsed() + RESPONSE_WITHIN_MS - waitedMs
    const exchange: UnderWay = {
      until,
      request: null,
      cutBy: null,
      leaveLine: null,
      isLate: false,
      isHandshaking: false,
    }
    underWay.add(exchange)
    void watch()
    try {
      checkLiteral(url.hostname)
      for (let tries = 0; ; tries++) {
        const result = await sendInTurn(url, headers, body, mailbox, exchange)
        if (result !== 'stale') return result
        if (tries === 2) return { error: 'connection failed: closed by the endpoint' }
      }
    } catch (error) {
      // Node.js throws for a request that it cannot begin, for example if the user in the URL cannot be decoded.
      return { error: describe(error as Error) }
    } finally {
      underWay.delete(exchange)
    }
  }

  // Not async: the text would be kept beside its bytes for as long as the exchange takes.
  function post(...[endpoint, headers, text, mailbox, waitedMs = 0]: Parameters<Post>): Promise<PushResult> {
    const url = URL.parse(endpoint)
    if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
      return Promise.resolve({ error: 'the endpoint is not an http or https URL' })
    return exchangeWith(url, headers, Buffer.from(text), mailbox, waitedMs)
  }

  function close(): void {
    closing.abort()
    for (const exchange of underWay) cut(exchange, INTERRUPTED)
    agents['http:'].destroy()
    agents['https:'].destroy()
  }
  return Object.assign(post, { close })
}

/** The endpoint misbehaved or took too long, or the node is shutting down. */
class ExchangeAborted extends Error {}
