// One request of a push, on a kept or a new connection. No redirect is followed, and the body of the response is
// discarded.
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Mailbox } from '../delivery/sql.ts'
import { beginningOf } from '../kernel/beginning-of.ts'
import { http } from '../kernel/node-http.ts'
import { drain, parseInSlices } from './drain.ts'
import type { ConnectInTurn } from './handshakes.ts'
import type { PushResult } from './outcome.ts'
import { AddressRefused } from './safe-address.ts'

/**
 * Interim responses (1xx) before the real one. Without a limit, 32 requests to an endpoint that sent nothing else held
 * up the event loop for 5 s.
 */
const MAX_INTERIM = 10
const MAX_ERROR = 200

/** The endpoint misbehaved or took too long, or the node is shutting down. */
export class ExchangeAborted extends Error {}

// Shows the code of a system call and not its message, which names the address.
export function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof AddressRefused || error instanceof ExchangeAborted) return error.message
  const text = error.syscall && error.code ? error.code : error.message || error.code || 'unknown'
  return beginningOf(`connection failed: ${text}`, MAX_ERROR)
}

/** One exchange under way. All have the same timeout, so they time out in the order in which they began. */
export interface UnderWay {
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

export interface OutgoingPush {
  url: URL
  headers: Record<string, string>
  body: Buffer
  mailbox: Mailbox
}

interface Connecting {
  agents: { 'http:': Agent; 'https:': https.Agent }
  lookup: LookupFunction
  /** Called for a new connection to https. */
  inTurn: ConnectInTurn
}

/** Returns `stale` if the kept connection turned out to be closed. */
export function sendOnce(
  { url, headers, body }: OutgoingPush,
  exchange: UnderWay,
  { agents, lookup, inTurn }: Connecting,
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
      // It came in one read with too many 1xx responses, which have ended the exchange.
      if (interim > MAX_INTERIM) return void response.on('error', () => {})
      receive(response)
      drain(response, () => resolve(received!))
    })
    // Comes last in every exchange, and also where Node.js reports neither an error nor the end of a response.
    request.on('close', () => resolve(received ?? failure('connection failed: closed without a response')))
    request.end(body)
  })
}
