// One connection: the requests in hand on it, and how it ends.
import type { Socket } from 'node:net'
import type { Failure } from '../kernel/failure.ts'
import type { Exchange } from './exchange.ts'
import { rawRefusal } from './raw-refusal.ts'

export interface Connection {
  readonly socket: Socket
  /** All that came and are not over, in their order. */
  readonly inHand: Exchange[]
  /** Those of them that are not begun. */
  readonly waiting: Exchange[]
  underWay: number
  /** A request was refused before it was looked at: it is the last that gets a response. */
  isEnding: boolean
  /** Requests that came after that one. */
  ignored: number
  /** What is sent once everything before it has its response, and then the connection ends. */
  farewell: string | null
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
    farewell: null,
    taken: 0,
    stuckSeconds: 0,
  })
}

/** Everything before it gets its response, and only then the connection ends. */
export function endAfterResponses(connection: Connection, failure: Failure): void {
  connection.farewell = rawRefusal(failure)
  if (connection.inHand.length > 0) return
  connection.socket.end(connection.farewell)
  connection.socket.destroySoon()
}
