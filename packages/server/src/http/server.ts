// The HTTP door. Everything that holds for every request stands here once: request id, error envelope, draining, log line,
// metrics. What a request means is the operations' business.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomBytes } from 'node:crypto'
import makeRouter from 'find-my-way'
import type { Operation } from '@sensorium/contract'
import { Failure, internal, invalid, methodNotAllowed, notFound, unavailable } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import { StoreUnavailable } from '../store/db.ts'
import type { Principal } from '../auth/principal.ts'
import type { Operations } from '../operations/perform.ts'
import type { OperationResponse } from '../operations/response.ts'
import { makeAuthenticate, type AuthenticateTools } from './authenticate.ts'
import { Exchange, JSON_TYPE } from './exchange.ts'
import type { Metrics } from './metrics.ts'
import { lastOwed, owe, settle } from './owed.ts'
import type { WhenLeaving } from './gone-signal.ts'
import type { Mount } from './mount.ts'
import type { Page } from './pages.ts'
import { makeReadPayload, type BodyLimits } from './payload.ts'
import { streamDeliveries } from './stream-deliveries.ts'

export interface ServerTools extends AuthenticateTools {
  log: Logger
  metrics: Metrics
  operations: Operations
  bodyLimits: BodyLimits
  pages: readonly Page[]
  mounts: readonly Mount[]
}

export interface HttpServer {
  /** Answers the address it listens on. */
  listen(host: string, port: number): Promise<string>
  /**
   * Refuses new requests with 503 and resolves when those taken are finished; what only waits is told to stop waiting.
   */
  drain(): Promise<void>
  /** Closes the port, and idle connections with it. */
  close(): Promise<void>
  /** Hangs up on everybody. */
  hangUp(): void
  inFlight(): number
}

/** Requests taken and not answered; beyond it the node says so instead of growing. Waiting polls count too; streams have a
 * bound of their own. */
const MAX_IN_FLIGHT = 10_000
/** In metrics and logs only: nobody was there to be answered. */
const CLIENT_WENT_AWAY = 499
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
/** How long the port stays open for those who hold a connection, after the last request was answered. */
const LINGER_MS = 100

type Serve = (exchange: Exchange) => void

function requestIdMaker(): (request: IncomingMessage) => string {
  const node = randomBytes(6).toString('hex')
  let n = 0
  return ({ headers }) => {
    const given = headers['x-request-id']
    return typeof given === 'string' && REQUEST_ID.test(given)
      ? given
      : `req_${node}${(n++).toString(36).padStart(8, '0')}`
  }
}

/** `/agents/{id}` of the contract is `/v1/agents/:id` of the router. */
export const routePath = ({ base, path }: Operation): string =>
  (base === 'v1' ? '/v1' : '') + path.replace(/\{(\w+)\}/g, ':$1')

export function makeServer(tools: ServerTools): HttpServer {
  const { log, metrics, operations, bodyLimits, pages, mounts } = tools
  const makeRequestId = requestIdMaker()
  const waiting = new Set<() => void>()
  let draining = false
  let inFlight = 0
  let emptied = (): void => {}

  // A parameter may be as long as a request line gets (16 KiB): how long an id is, its own check knows.
  const router = makeRouter({ maxParamLength: 16_384, ignoreTrailingSlash: false, caseSensitive: true })
  const add = (method: (typeof METHODS)[number] | 'OPTIONS', url: string, serve: Serve): void =>
    router.on(method, url, () => {}, { url, serve })

  function noRoute({ method, path, request }: Exchange): Failure {
    const closed = tools.operatorToken === null && path.startsWith('/operator')
    const allowed = closed ? [] : METHODS.filter((other) => router.find(other, request.url!) !== null)
    return allowed.length > 0 ? methodNotAllowed(method, allowed) : notFound('path', path)
  }

  function send(
    exchange: Exchange,
    status: number,
    headers: Readonly<Record<string, string>> | undefined,
    type: string,
    body: string | undefined,
  ): void {
    if (exchange.response.headersSent) return // its body broke, and it was refused while the answer was made
    if (draining || exchange.isLast) exchange.header('connection', 'close')
    exchange.send(status, headers, type, body)
  }

  function respond({ status, text, json, replayed, stream }: OperationResponse, exchange: Exchange): void {
    if (exchange.response.headersSent) return // its body broke, and it was refused meanwhile
    if (stream) {
      streamDeliveries(stream, exchange)
      return countOut(exchange, status)
    }
    if (replayed) exchange.header('idempotent-replayed', 'true')
    send(exchange, status, undefined, JSON_TYPE, text ?? (json === undefined ? undefined : JSON.stringify(json)))
  }

  function fail(error: unknown, exchange: Exchange): void {
    const failure = asFailure(error)
    const { id, path, request, response } = exchange
    if (response.writableEnded) return // it was refused before, and this is what follows from that
    // A client that hangs up in the middle of its body is no failure of ours, and nobody reads the answer.
    if (failure.code === 'internal_error' && !request.socket.destroyed)
      log.error({ err: error, request_id: id, path }, 'unexpected failure')
    if (failure.code === 'service_unavailable') log.warn({ err: error, request_id: id }, 'request not taken')
    if (response.headersSent) response.destroy()
    else {
      const { code, message, details, status, headers } = failure
      const text = JSON.stringify({ error: { code, message, request_id: id, details } })
      send(exchange, status, headers, JSON_TYPE, text)
    }
  }

  const whenLeaving: WhenLeaving = (stop) => {
    if (draining) stop()
    waiting.add(stop)
    return () => void waiting.delete(stop)
  }

  function report({ id, method, path, route, principal }: Exchange, status: number, ms: number): void {
    metrics.request(method, route, status, ms / 1000)
    const known = principal !== null && principal.tenantId !== ''
    log.request({
      requestId: id,
      method,
      path,
      status,
      ms,
      tenant: known ? principal.tenantId : null,
      principal: known ? principal.id : null,
    })
  }

  function countOut(exchange: Exchange, status: number): void {
    if (!exchange.isCounted) return
    exchange.isCounted = false
    report(exchange, status, performance.now() - exchange.started)
    if (--inFlight === 0) emptied()
  }

  // What does not depend on the route. It throws what is wrong.
  function checkAtTheDoor({ path, request }: Exchange): void {
    // The process runs to the end, and that is all that its health says.
    if (draining && path !== '/healthz') throw unavailable('This node is shutting down')
    if (inFlight > MAX_IN_FLIGHT) throw unavailable('This node has too many requests in hand')
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      throw invalid({ field: 'Host', value: null, expected: 'the name of the host', example: 'localhost:8080' })
    }
  }

  function take(request: IncomingMessage, response: ServerResponse): void {
    const exchange = new Exchange(makeRequestId(request), request, response, whenLeaving)
    inFlight++
    response.on('error', () => {}) // nobody is there any more, as `close` says too
    // Closed, not answered: a client that goes away before its answer must be counted out as well. A stream is counted
    // out when it begins: it is answered, and bounded elsewhere.
    response.on('close', () => {
      settle(exchange)
      countOut(exchange, response.writableFinished ? response.statusCode : CLIENT_WENT_AWAY)
    })
    owe(exchange)
    try {
      checkAtTheDoor(exchange)
      const found = router.find(request.method as 'GET', request.url!)
      // Before the body: what cannot be done anyway is not read.
      if (!found) throw noRoute(exchange)
      const { url, serve } = found.store as { url: string; serve: Serve }
      exchange.route = url
      exchange.params = found.params
      exchange.query = found.searchParams
      serve(exchange)
    } catch (error) {
      fail(error, exchange)
    }
  }

  for (const { operation, kind } of operations.bindings) {
    const authenticate = makeAuthenticate(operation, tools)
    const readPayload = makeReadPayload(operation, bodyLimits)
    const run = operations.runner(operation)

    const carryOut = (principal: Principal, exchange: Exchange): Promise<void> => {
      // For the log line, also when what follows refuses.
      exchange.principal = principal
      return run(principal, exchange, exchange).then((response) => respond(response, exchange))
    }

    const serve = (exchange: Exchange): void => {
      exchange.readPayload = readPayload
      const failed = (error: unknown): void => fail(error, exchange)
      const principal = authenticate(exchange)
      if (principal instanceof Promise) principal.then((known) => carryOut(known, exchange)).catch(failed)
      else carryOut(principal, exchange).catch(failed)
    }
    add(operation.method, routePath(operation), serve)
    // A HEAD must not do anything: polling and streaming lease what they read.
    if (operation.method === 'GET' && kind === 'read') add('HEAD', routePath(operation), serve)
  }

  for (const page of pages) {
    const serve = (exchange: Exchange): void => {
      page.show().then(
        ({ status = 200, type = JSON_TYPE, headers, body }) => send(exchange, status, headers, type, body),
        (error: unknown) => fail(error, exchange),
      )
    }
    add('GET', page.path, serve)
    add('HEAD', page.path, serve)
  }

  for (const { prefix, handle } of mounts) {
    const serve = (exchange: Exchange): void => {
      Promise.resolve(handle(exchange)).catch((error: unknown) => fail(error, exchange))
    }
    for (const method of [...METHODS, 'OPTIONS'] as const) {
      add(method, prefix, serve)
      add(method, `${prefix}/*`, serve)
    }
  }

  // Slow senders lose their socket, not our memory. Node would answer a request without Host by itself and without our
  // envelope.
  const server = createServer({ requestTimeout: 60_000, keepAliveTimeout: 65_000, requireHostHeader: false }, take)
  // The same for an Expect that it does not know, which a server may ignore.
  server.on('checkExpectation', take)
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const last = lastOwed(socket)
    if (!last) return answerBrokenRequest(socket)
    // What came before the broken bytes is answered, and only then the connection ends; a request that they are part of
    // is refused.
    last.isLast = true
    if (!last.request.complete) fail(brokenRequest(), last)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  async function linger(): Promise<void> {
    for (let waited = 0; sockets.size > 0 && waited < LINGER_MS; waited += 10) await sleep(10)
  }

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen({ host, port }, () => {
          server.off('error', reject)
          const { address, family, port: taken } = server.address() as AddressInfo
          resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`)
        })
      }),
    drain() {
      draining = true
      for (const stop of waiting) stop()
      return inFlight === 0 ? Promise.resolve() : new Promise((resolve) => (emptied = resolve))
    },
    async close() {
      // Who was about to send another request on its connection is told 503, rather than meeting a closed one.
      await linger()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        // Nobody waits for an answer any more; some never asked for anything.
        for (const socket of sockets) socket.destroySoon()
      })
    },
    hangUp: () => server.closeAllConnections(),
    inFlight: () => inFlight,
  }
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof StoreUnavailable) return unavailable(error.sentence)
  return internal()
}

const brokenRequest = (): Failure =>
  invalid({ field: 'request', value: null, expected: 'a well-formed HTTP request', example: null })

// What is not HTTP at all never becomes a request; the socket still gets our envelope.
function answerBrokenRequest(socket: Socket): void {
  const id = `req_${randomBytes(10).toString('hex')}`
  const failure = brokenRequest()
  const body = JSON.stringify({
    error: { code: failure.code, message: failure.message, request_id: id, details: failure.details },
  })
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nX-Request-Id: ${id}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n` +
      `Content-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
