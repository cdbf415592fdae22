// One connection: the requests in hand on it, and how it ends.
import type { Socket } from 'node:net'
import type { Failure } from '../kernel/failure.ts'
import type { Exchange } from './exchange.ts'
import { rawRefusal } from './raw-refusal.ts'

export interface Connection {
  readonly socket: Socket
  /** Requests that have arrived and are not over, in order of arrival. */
  readonly inHand: Exchange[]
  /** Requests that have arrived and have not been started. */
  readonly waiting: Exchange[]
  underWay: number
  /** Set when a request was refused before it was looked at: that request is the last to get a response. */
  isEnding: boolean
  /** Requests that arrived after the last one that gets a response. */
  ignored: number
  /** Sent after the responses to all requests in hand; the connection then ends. */
  finalResponse: string | null
  /** Bytes of responses that the socket has taken, and for how many seconds it has taken none. */
  taken: number
  stuckSeconds: number
}

const CONNECTION = Symbol('connection')

type Carrier = Socket & { [CONNECTION]?: Connection }

export function connectionOf(socket: Carrier): Connection {
  return (socket[CONNECTION] ??= {
    socket,
    inHand: [],
    waiting: [],
    underWay: 0,
    isEnding: false,
    ignored: 0,
    finalResponse: null,
    taken: 0,
    stuckSeconds: 0,
  })
}

/**
 * Ends the connection with the response to this request, if none has arrived after it, and returns whether it does.
 * Requests that arrive later are not carried out: nobody would get their responses.
 */
export function endWithNewest(exchange: Exchange): boolean {
  const connection = connectionOf(exchange.request.socket)
  if (connection.inHand.at(-1) !== exchange) return false
  connection.isEnding = true
  return true
}

/** Ends the connection with `failure`, after all requests in hand have got their responses. */
export function endAfterResponses(connection: Connection, failure: Failure): void {
  connection.finalResponse = rawRefusal(failure)
  if (connection.inHand.length > 0) return
  connection.socket.end(connection.finalResponse)
  connection.socket.destroySoon()
}
