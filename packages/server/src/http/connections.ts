// Connections, and the requests in hand on each of them.
//
// 1. A request is over when its response ends or its socket closes, whichever comes first. Node does not report a
//    closed socket to responses that wait behind another on the connection.
// 2. A connection has a few requests under way. More pipelined requests wait, and are begun as responses are taken.
// 3. Clients that are too slow are refused or disconnected: slow-peers.ts.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../kernel/clock.ts'
import { type Failure, invalid, methodNotAllowed, requestTimeout, tooManyAtOnce } from '../kernel/failure.ts'
import { http } from '../kernel/node-http.ts'
import { inTooManyPieces, watchPieces } from './body-pieces.ts'
import { connectionOf, endAfterResponses, type Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { makeFairStart } from './fair-start.ts'
import { makeSocketTurns, type SocketTurns } from './socket-turns.ts'
import { METHODS } from './route-table.ts'
import { tick, TICK_MS } from './slow-peers.ts'

interface ConnectionsTools {
  clock: Clock
  makeExchange(request: IncomingMessage, response: ServerResponse): Exchange
  /** Called when a request has arrived. Returns false if it was refused and there is nothing to begin. */
  arrived(exchange: Exchange): boolean
  /** Begins the work on a request. */
  begin(exchange: Exchange): void
  refuse(failure: Failure, exchange: Exchange): void
  /** Called when a request is over. */
  left(exchange: Exchange): void
}

export interface Connections {
  /** Resolves to the address that the server listens on. */
  listen(host: string, port: number): Promise<string>
  /** Closes the port and all connections. Called after the last response. */
  close(): Promise<void>
  /** Closes all connections at once, whatever is under way on them. */
  hangUp(): void
}

/** Requests of one connection that are worked on at the same time. */
const MOST_UNDER_WAY = 8
/** Requests of one connection without a response. A client that pipelines more gets these responses and one refusal. */
const MOST_IN_HAND = 256
/** Later requests that are ignored before the connection is cut off. Each takes some 3 kB until the connection ends. */
const MOST_IGNORED = 1_024
/** Connections that may wait to be accepted. The system ignores more silently, and clients retry after a second. */
const BACKLOG = 4_096
/** How long the port stays open after the last response, for clients that hold a connection. */
const LINGER_MS = 100

const brokenRequest = (expected = 'a well-formed HTTP request'): Failure =>
  invalid({ field: 'request', value: null, expected, example: null })

function failureOf(code: string | undefined): Failure {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimeout('its head within 20 seconds')
  if (code === 'HPE_HEADER_OVERFLOW') return brokenRequest('a path, query and headers of at most 16 KiB together')
  return brokenRequest()
}

/**
 * Returns the handler of requests. It takes them, begins those that may begin, and removes those that are over. `busy`
 * holds the connections with requests in hand.
 */
function makeTake(
  tools: ConnectionsTools,
  socketTurns: SocketTurns,
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
    if (connection.finalResponse !== null) socket.end(connection.finalResponse)
    // Otherwise Node would go on reading a body that is not wanted, and its bytes would not be counted.
    if (exchange.closesConnection || connection.finalResponse !== null || exchange.isBodyOutstanding)
      socket.destroySoon()
  }

  function take(request: IncomingMessage, response: ServerResponse): void {
    socketTurns.read(request.socket)
    const connection = connectionOf(request.socket)
    // A flood gets no responses: they would be the work that it is after. It is cut off as Node keeps every request.
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
    response.on('error', () => {}) // the client is gone, which `close` reports too
    response.on('close', () => leave(connection, exchange))
    if (exchange.isChunked) watchBody(exchange, socketTurns, refuse)
    if (!arrived(exchange)) {
      connection.isEnding = true
      exchange.closesConnection = true
      return
    }
    connection.waiting.push(exchange)
    beginNext(connection)
    exchange.cachedPrincipal = null // the token may no longer be valid when a request that waits is begun
  }

  return take
}

export function makeConnections(tools: ConnectionsTools): Connections {
  const { clock, refuse } = tools
  const socketTurns = makeSocketTurns()
  const sockets = new Set<Socket>()
  const busy = new Set<Connection>()
  const closing = new AbortController()

  /** Handles a `clientError` of Node: bytes that are no HTTP request, a timeout or a reset. */
  function broken(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const connection = connectionOf(socket)
    const failure = failureOf(error.code)
    const last = connection.inHand.at(-1)
    if (!last) return endAfterResponses(connection, failure)
    // The last request is refused if the broken bytes are part of it.
    cutOff(last, failure, refuse)
  }

  async function keepTicking(): Promise<void> {
    for (;;) {
      await clock.sleep(TICK_MS, closing.signal)
      if (closing.signal.aborted) return
      await tick(busy, refuse)
    }
  }

  const server = openServer(makeTake(tools, socketTurns, busy), broken, sockets, socketTurns)

  return {
    async listen(host, port) {
      const address = await listen(server, host, port)
      void keepTicking()
      return address
    },
    async close() {
      // A client that is about to send another request on its connection gets a 503 instead of a closed connection.
      for (let waited = 0; sockets.size > 0 && waited < LINGER_MS; waited += 10) await sleep(10)
      closing.abort()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        // No client waits for a response any more; some never sent a request.
        for (const socket of sockets) socket.destroySoon()
      })
    },
    hangUp: () => server.closeAllConnections(),
  }
}

type Refuse = ConnectionsTools['refuse']

/** Takes nothing more of a request, refuses it if it is incomplete, and lets its connection end. */
function cutOff(exchange: Exchange, failure: Failure, refuse: Refuse): void {
  exchange.closesConnection = true
  if (exchange.discarding) exchange.response.end()
  else if (!exchange.request.complete) refuse(failure, exchange)
}

function watchBody(exchange: Exchange, socketTurns: SocketTurns, refuse: Refuse): void {
  const { request } = exchange
  const { socket } = request
  const tooMany = (): void => {
    // Another response is under way, and the body is not wanted.
    if (exchange.hasResponse && !exchange.discarding) socket.destroy()
    else cutOff(exchange, inTooManyPieces(), refuse)
  }
  watchPieces(request, () => socketTurns.readPiece(socket), tooMany)
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

/** Creates Node's server, set up to pass on what it would otherwise answer by itself. Keeps `sockets` up to date. */
function openServer(
  take: (request: IncomingMessage, response: ServerResponse) => void,
  broken: (error: Error, socket: Socket) => void,
  sockets: Set<Socket>,
  socketTurns: SocketTurns,
): Server {
  // Node would answer a request without Host by itself and without our envelope.
  const server = http.createServer(
    {
      requestTimeout: 0, // slow-peers.ts times the body
      headersTimeout: 20_000,
      connectionsCheckingInterval: 5_000,
      keepAliveTimeout: 65_000,
      requireHostHeader: false,
      // Nothing is read for a request without a body: a poll takes 107 µs of a core instead of 113.
      optimizeEmptyRequests: true,
    },
    take,
  )
  // Node would also answer an unknown Expect by itself, which a server may ignore. An Upgrade is ignored as well.
  server.on('checkExpectation', take)
  server.on('clientError', broken)
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {}) // Node no longer handles them
    socketTurns.detached(socket)
    endAfterResponses(connectionOf(socket), methodNotAllowed('CONNECT', [...METHODS]))
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    if (!socketTurns.opened(socket)) socket.destroy()
    socket.once('end', () => socketTurns.read(socket))
    // Runs before Node's own listener, which creates an error for every request without a response: 20 µs each for a
    // stack that nobody reads. A connection with a thousand such requests blocked the event loop for that long.
    let stackLimit = Error.stackTraceLimit
    socket.prependOnceListener('close', () => {
      stackLimit = Error.stackTraceLimit
      Error.stackTraceLimit = 0
    })
    socket.once('close', () => {
      Error.stackTraceLimit = stackLimit
      sockets.delete(socket)
      socketTurns.closed(socket)
      for (const { response } of [...connectionOf(socket).inHand]) {
        response.destroyed = true
        response.emit('close')
      }
    })
  })
  return server
}
