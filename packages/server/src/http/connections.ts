// Connections, and the requests in hand on each of them.
//
// 1. A request is over when its response is, or when its socket is, whichever comes first: of responses that wait behind
//    another on their connection Node tells nothing when the socket goes.
// 2. A connection has a few requests under way; what it pipelines beyond them waits, and is begun as responses are taken.
// 3. Whoever is too slow is refused or gone: slow-peers.ts.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../kernel/clock.ts'
import { type Failure, invalid, methodNotAllowed, requestTimeout, tooManyAtOnce } from '../kernel/failure.ts'
import { inTooManyPieces, watchPieces } from './body-pieces.ts'
import { connectionOf, endAfterResponses, type Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { makeFairStart } from './fair-start.ts'
import { makeReadingTurns, type ReadingTurns } from './reading-turns.ts'
import { METHODS } from './route-table.ts'
import { tick, TICK_MS } from './slow-peers.ts'

export interface ConnectionsTools {
  clock: Clock
  makeExchange(request: IncomingMessage, response: ServerResponse): Exchange
  /** A request has come. False: it was refused, and there is nothing to begin. */
  arrived(exchange: Exchange): boolean
  /** Begins the work on it. */
  begin(exchange: Exchange): void
  refuse(failure: Failure, exchange: Exchange): void
  /** It is over. */
  left(exchange: Exchange): void
}

export interface Connections {
  /** Gives the address it listens on. */
  listen(host: string, port: number): Promise<string>
  /** Closes the port, and idle connections with it. */
  close(): Promise<void>
  /** Hangs up on everybody. */
  hangUp(): void
}

/** Requests of one connection that are worked on at the same time. */
const MOST_UNDER_WAY = 8
/** Requests of one connection that came and have no response yet; who pipelines more gets responses to those and no others. */
const MOST_IN_HAND = 256
/** Of what comes after those so much is thrown away; who goes on is cut off. Each takes some 3 kB until the connection ends. */
const MOST_IGNORED = 1_024
/** Connections that wait to be accepted. Of more the system tells nobody, and their clients try again after a second. */
const BACKLOG = 4_096
/** How long the port stays open for those who hold a connection, after the last response. */
const LINGER_MS = 100

const brokenRequest = (): Failure =>
  invalid({ field: 'request', value: null, expected: 'a well-formed HTTP request', example: null })

/** Takes requests, begins those that may begin, and lets go of those that are over. `busy` have some in hand. */
function makeTake(
  tools: ConnectionsTools,
  readingTurns: ReadingTurns,
  busy: Set<Connection>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { makeExchange, arrived, refuse } = tools
  const start = makeFairStart(tools.begin)

  function beginNext(connection: Connection): void {
    const { socket, waiting } = connection
    while (waiting.length > 0 && connection.underWay < MOST_UNDER_WAY) {
      if (connection.underWay > 0 && socket.writableNeedDrain) return
      const next = waiting.shift()!
      connection.underWay++
      next.isUnderWay = true
      start(next)
    }
  }

  function leave(connection: Connection, exchange: Exchange): void {
    const { inHand, waiting, socket } = connection
    const at = inHand.indexOf(exchange)
    if (at === -1) return
    inHand.splice(at, 1)
    if (exchange.isUnderWay) connection.underWay--
    else if (waiting.includes(exchange)) waiting.splice(waiting.indexOf(exchange), 1)
    tools.left(exchange)
    if (!socket.destroyed) beginNext(connection)
    if (inHand.length > 0) return
    busy.delete(connection)
    if (connection.farewell !== null) socket.end(connection.farewell)
    // Node would go on reading a body that nobody wanted, and nobody would count it.
    if (exchange.isLast || connection.farewell !== null || exchange.isBodyOutstanding) socket.destroySoon()
  }

  function take(request: IncomingMessage, response: ServerResponse): void {
    readingTurns.read(request.socket)
    const connection = connectionOf(request.socket)
    // Responding to each of a flood would be the work that it is after, and Node keeps every one of them.
    if (connection.isEnding) {
      if (++connection.ignored > MOST_IGNORED) connection.socket.destroy()
      return
    }
    if (connection.inHand.length >= MOST_IN_HAND) {
      connection.isEnding = true
      return endAfterResponses(connection, tooManyAtOnce('requests of one connection in hand', MOST_IN_HAND))
    }
    const exchange = makeExchange(request, response)
    connection.inHand.push(exchange)
    busy.add(connection)
    response.on('error', () => {}) // nobody is there any more, as `close` says too
    response.on('close', () => leave(connection, exchange))
    if (exchange.isChunked) watchBody(exchange, readingTurns, refuse)
    if (!arrived(exchange)) {
      connection.isEnding = true
      exchange.isLast = true
      return
    }
    connection.waiting.push(exchange)
    beginNext(connection)
    exchange.seen = null // what holds now may not hold when its turn comes
  }

  return take
}

export function makeConnections(tools: ConnectionsTools): Connections {
  const { clock, refuse } = tools
  const readingTurns = makeReadingTurns()
  const sockets = new Set<Socket>()
  const busy = new Set<Connection>()
  const closing = new AbortController()

  /** What is not a request of ours. */
  function broken(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const connection = connectionOf(socket)
    const failure =
      error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? requestTimeout('the whole of it within a minute') : brokenRequest()
    const last = connection.inHand.at(-1)
    if (!last) return endAfterResponses(connection, failure)
    // A request that the broken bytes are part of is refused.
    cutOff(last, failure, refuse)
  }

  async function keepTicking(): Promise<void> {
    for (;;) {
      await clock.sleep(TICK_MS, closing.signal)
      if (closing.signal.aborted) return
      await tick(busy, refuse)
    }
  }

  const server = openServer(makeTake(tools, readingTurns, busy), broken, sockets, readingTurns)

  return {
    async listen(host, port) {
      const address = await listen(server, host, port)
      void keepTicking()
      return address
    },
    async close() {
      // Who was about to send another request on its connection is told 503, rather than meeting a closed one.
      for (let waited = 0; sockets.size > 0 && waited < LINGER_MS; waited += 10) await sleep(10)
      closing.abort()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        // Nobody waits for a response any more; some never asked for anything.
        for (const socket of sockets) socket.destroySoon()
      })
    },
    hangUp: () => server.closeAllConnections(),
  }
}

type Refuse = ConnectionsTools['refuse']

/** Nothing more of it is taken, and its connection ends. */
function cutOff(exchange: Exchange, failure: Failure, refuse: Refuse): void {
  exchange.isLast = true
  if (exchange.discarding) exchange.response.end()
  else if (!exchange.request.complete) refuse(failure, exchange)
}

function watchBody(exchange: Exchange, readingTurns: ReadingTurns, refuse: Refuse): void {
  const { request } = exchange
  const { socket } = request
  const tooMany = (): void => {
    // Something else of the response is under way, and nobody wanted the body.
    if (exchange.hasResponse && !exchange.discarding) socket.destroy()
    else cutOff(exchange, inTooManyPieces(), refuse)
  }
  watchPieces(request, () => readingTurns.readPiece(socket), tooMany)
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off('error', reject)
      const { address, family, port: taken } = server.address() as AddressInfo
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`)
    })
  })
}

/** Node's server, with everything given to us that it would answer by itself; `sockets` are kept up to date. */
function openServer(
  take: (request: IncomingMessage, response: ServerResponse) => void,
  broken: (error: Error, socket: Socket) => void,
  sockets: Set<Socket>,
  readingTurns: ReadingTurns,
): Server {
  // Node would answer a request without Host by itself and without our envelope.
  const server = createServer(
    {
      requestTimeout: 60_000,
      headersTimeout: 20_000,
      connectionsCheckingInterval: 5_000,
      keepAliveTimeout: 65_000,
      requireHostHeader: false,
      // Of a request without a body nothing is read: a poll takes 107 µs of a core instead of 113.
      optimizeEmptyRequests: true,
    },
    take,
  )
  // The same for an Expect that it does not know, which a server may ignore. An Upgrade is ignored as well.
  server.on('checkExpectation', take)
  server.on('clientError', broken)
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {}) // it is not Node's any more
    readingTurns.left(socket)
    endAfterResponses(connectionOf(socket), methodNotAllowed('CONNECT', [...METHODS]))
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    if (!readingTurns.opened(socket)) socket.destroy()
    socket.once('end', () => readingTurns.read(socket))
    // Before Node's own listener, which makes an error for every request that has no response yet, 20 µs each for a
    // stack that nobody reads: a connection with a thousand of them held everybody up for that long.
    let stackLimit = Error.stackTraceLimit
    socket.prependOnceListener('close', () => {
      stackLimit = Error.stackTraceLimit
      Error.stackTraceLimit = 0
    })
    socket.once('close', () => {
      Error.stackTraceLimit = stackLimit
      sockets.delete(socket)
      readingTurns.closed(socket)
      for (const { response } of [...connectionOf(socket).inHand]) {
        response.destroyed = true
        response.emit('close')
      }
    })
  })
  return server
}
