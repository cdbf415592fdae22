// The HTTP transport: all that is common to every request, such as the request id, the error envelope, draining, and
// the checks that refuse a request before its operation does. What a request means is up to the operations.
import type { IncomingMessage } from 'node:http'
import { randomBytes } from 'node:crypto'
import type { Operation } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { Clock } from '../kernel/clock.ts'
import { envelopeOf } from '../kernel/error-envelope.ts'
import { Failure, internal, invalid, unavailable } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Payload } from '../operations/call.ts'
import type { Operations } from '../operations/perform.ts'
import type { OperationResponse, Pieces } from '../operations/response.ts'
import { StoreUnavailable } from '../store/db.ts'
import { makeAuthenticate, makeRequireStanding, type AuthenticateTools } from './authenticate.ts'
import { makeBodyTurns, type BodyTurns } from './body-turns.ts'
import { endWithNewest } from './connection.ts'
import { makeConnections, type Connections } from './connections.ts'
import { Exchange } from './exchange.ts'
import type { OnShutdown } from './gone-signal.ts'
import { makeInHand, type InHand, type InHandTools } from './in-hand.ts'
import { largeResponses } from './large-responses.ts'
import type { Mount } from './mount.ts'
import { wantsHtml, type Page, type ShownPage } from './page.ts'
import { makeReadPayload, type BodyLimits } from './payload.ts'
import { begunPieces, sendPieces, sendText } from './respond.ts'
import { UNCOUNTED } from './room.ts'
import { makeRouteTable, METHODS, type RouteTable, type Serve } from './route-table.ts'
import { streamDeliveries } from './stream-deliveries.ts'

interface ServerTools extends AuthenticateTools, InHandTools {
  clock: Clock
  operations: Operations
  bodyLimits: BodyLimits
  pages: readonly Page[]
  mounts: readonly Mount[]
}

export interface HttpServer extends Connections {
  /** Reports that the node is not ready, and serves on. Connections end with their next response. */
  giveNotice(): void
  /**
   * Refuses new requests with 503, and resolves when the requests in hand are finished. Requests that only wait are
   * told to stop waiting.
   */
  drain(): Promise<void>
  inFlight(): number
}

/** In metrics and logs only: the client disconnected before it had its response. */
const CLIENT_WENT_AWAY = 499
/** A text of no more characters takes no room: a character has at most three bytes. */
const SURELY_UNCOUNTED = UNCOUNTED / 3
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/

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
const routePath = ({ base, path }: Operation): string =>
  (base === 'v1' ? '/v1' : '') + path.replace(/\{(\w+)\}/g, ':$1')

/**
 * Requires one Host, whatever its value; an HTTP 1.0 request may have none. Of two, a proxy and a server may each
 * believe a different one.
 */
function checkHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++
  if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return
  const expected = hosts === 0 ? 'the name of the host' : 'one name of a host'
  throw invalid({ field: 'Host', value: null, expected, example: 'localhost:8080' })
}

/**
 * Requires the one coding that is read here. Node reads others before it as if they were not there, and a proxy that
 * knows them would see another body.
 */
function checkCoding({ headers }: IncomingMessage): void {
  const coding = headers['transfer-encoding']
  if (coding === undefined || coding.toLowerCase() === 'chunked') return
  throw invalid({ field: 'Transfer-Encoding', value: coding, expected: 'chunked, and no other', example: 'chunked' })
}

async function putBackFirst(putBack: () => Promise<void>, error: unknown): Promise<never> {
  await putBack()
  throw error
}

/** Yields pieces for as long as the token of the caller lasts: a response is read as slowly as its client likes. */
async function* whileStanding(pieces: Pieces, exchange: Exchange): AsyncGenerator<string | Uint8Array> {
  for await (const piece of pieces) {
    await exchange.requireStanding()
    yield piece
  }
}

/** Ends requests: with the response of their operation, or with a failure. */
function makeResponding(log: Logger, inHand: InHand): Pick<ServeTools, 'respond' | 'fail'> {
  const sendInTurn = largeResponses()

  /** Sends pieces: in turn, if they are made while they are sent. */
  async function sendMade(exchange: Exchange, status: number, pieces: Pieces, type?: string): Promise<void> {
    if (!(Symbol.asyncIterator in pieces) || !exchange.principal) return sendPieces(exchange, status, pieces, type)
    const send = () => sendPieces(exchange, status, whileStanding(pieces, exchange), type)
    await exchange.front()
    await sendInTurn(exchange.principal, send)
  }

  /** Sends what was leased: in turn only if it is over 1 MiB. What there is no room to make is put back. */
  async function sendLeased({ status, pieces, putBack }: OperationResponse, exchange: Exchange): Promise<void> {
    const begun = await begunPieces(pieces!, (length) => inHand.holdUnread(exchange, length, false)).catch(
      (error: unknown) => putBackFirst(putBack!, error),
    )
    return sendMade(exchange, status, begun)
  }

  /** Sends a text for which there is room until it is read; otherwise it is refused, unless it reports a change. */
  function sendLong(
    response: OperationResponse,
    text: string,
    exchange: Exchange,
    type?: string,
  ): void | Promise<never> {
    const isRead = response.changesNothing || response.unchanged || exchange.method === 'GET'
    // Here and not later: to count the bytes of a text takes as long as to encode it, 1 or 2 ms for a megabyte.
    const bytes = Buffer.from(text)
    try {
      inHand.holdUnread(exchange, bytes.length, !isRead)
    } catch (error) {
      if (response.putBack) return putBackFirst(response.putBack, error)
      throw error
    }
    sendText(exchange, response.status, undefined, bytes, type)
  }

  function respond(response: OperationResponse, exchange: Exchange, type?: string): void | Promise<void> {
    if (exchange.hasResponse) return response.unopened?.() ?? response.putBack?.() // its body was broken, and it was refused in the meantime
    const { status, text, json, pieces, replayed, stream } = response
    if (stream) {
      streamDeliveries(stream, exchange)
      return inHand.leave(exchange, status)
    }
    if (replayed) exchange.header('idempotent-replayed', 'true')
    if (pieces) return response.putBack ? sendLeased(response, exchange) : sendMade(exchange, status, pieces, type)
    const body = text ?? (json === undefined ? undefined : JSON.stringify(json))
    if (body !== undefined && body.length > SURELY_UNCOUNTED && exchange.method !== 'HEAD')
      return sendLong(response, body, exchange, type)
    sendText(exchange, status, undefined, body, type)
  }

  function fail(error: unknown, exchange: Exchange): void {
    if (exchange.hasResponse) return // it was refused before, and this error follows from that
    const failure = publicFailure(error)
    const { id, path, request, response } = exchange
    // A client that disconnects in the middle of its body is no failure of ours, and nobody reads the response.
    if (failure.code === 'internal_error' && !request.socket.destroyed)
      log.error({ err: error, request_id: id, path }, 'unexpected failure')
    // Every health check of a node that leaves is refused, as it should be.
    if (failure.code === 'service_unavailable' && path !== '/readyz')
      log.warn({ err: error, request_id: id }, 'request not taken')
    if (response.headersSent) return void response.destroy()
    if (exchange.closesConnection) exchange.header('connection', 'close')
    sendText(exchange, failure.status, failure.headers, JSON.stringify(envelopeOf(failure, id)))
  }

  return { respond, fail }
}

export function makeServer(tools: ServerTools): HttpServer {
  const makeRequestId = requestIdMaker()
  const inHand = makeInHand(tools)
  const table = makeRouteTable((path) => tools.operatorToken === null && path.startsWith('/operator'))
  const waiting = new Set<() => void>()
  let stage: 'serving' | 'leaving' | 'draining' = 'serving'
  // With a pipelined request behind it, the connection would end before the response to that one.
  const endsConnection = (exchange: Exchange): boolean => stage !== 'serving' && endWithNewest(exchange)
  // The process runs until the end, and that is all that /healthz tells.
  const isRefused = (path: string): boolean =>
    stage === 'draining' ? path !== '/healthz' : stage === 'leaving' && path === '/readyz'
  const { respond, fail } = makeResponding(tools.log, inHand)
  const answered = (exchange: Exchange): void => inHand.leave(exchange, exchange.response.statusCode)

  const onShutdown: OnShutdown = (stop) => {
    if (stage === 'draining') stop()
    waiting.add(stop)
    return () => void waiting.delete(stop)
  }

  const connections = makeConnections({
    clock: tools.clock,
    refuse: fail,
    makeExchange: (request, response) =>
      new Exchange(makeRequestId(request), request, response, onShutdown, endsConnection, answered),
    arrived(exchange) {
      try {
        inHand.take(exchange)
        return true
      } catch (error) {
        exchange.header('connection', 'close')
        fail(error, exchange)
        return false
      }
    },
    begin(exchange) {
      try {
        if (isRefused(exchange.path)) throw unavailable('This node is shutting down')
        checkHost(exchange.request)
        checkCoding(exchange.request)
        // Before the body is read: the body of a request that cannot be served is left unread.
        table.find(exchange)(exchange)
      } catch (error) {
        const missing = missingPage(error, exchange, tools.pages)
        if (missing) sendPage(missing, exchange, serveTools)
        else fail(error, exchange)
      }
    },
    // A stream was counted out when it began: it has its response, and is bounded elsewhere.
    left: (exchange) =>
      inHand.leave(exchange, exchange.response.writableFinished ? exchange.response.statusCode : CLIENT_WENT_AWAY),
  })

  const serveTools: ServeTools = {
    ...tools,
    bodyTurns: makeBodyTurns(),
    identified: inHand.identified,
    respond,
    fail,
  }
  addOperations(table, serveTools)
  addPages(table, serveTools)
  addMounts(table, serveTools)

  return {
    ...connections,
    giveNotice: () => void (stage = 'leaving'),
    drain() {
      stage = 'draining'
      for (const stop of waiting) stop()
      return inHand.emptied()
    },
    inFlight: inHand.count,
  }
}

interface ServeTools extends ServerTools {
  bodyTurns: BodyTurns
  identified(exchange: Exchange): void
  respond(response: OperationResponse, exchange: Exchange, type?: string): void | Promise<void>
  fail(error: unknown, exchange: Exchange): void
}

function addOperations(table: RouteTable, tools: ServeTools): void {
  for (const { operation, kind } of tools.operations.bindings) {
    const serve = serveOperation(operation, tools)
    table.add(operation.method, routePath(operation), serve)
    // A HEAD must not change anything: polling and streaming lease what they read.
    if (operation.method === 'GET' && (kind === 'read' || kind === 'browse'))
      table.add('HEAD', routePath(operation), serve)
  }
}

function sendPage(shown: Promise<ShownPage>, exchange: Exchange, { fail }: ServeTools): void {
  shown.then(
    ({ status = 200, type, headers, body }) => {
      if (!exchange.hasResponse) sendText(exchange, status, headers, body, type)
    },
    (error: unknown) => fail(error, exchange),
  )
}

/** Returns what a browser is shown where no route was found. It is no route: any other method would then be 405. */
function missingPage(error: unknown, exchange: Exchange, pages: readonly Page[]): Promise<ShownPage> | undefined {
  const { method, path, request } = exchange
  if (!(error instanceof Failure && error.code === 'not_found')) return undefined
  if ((method !== 'GET' && method !== 'HEAD') || !wantsHtml(request.headers.accept)) return undefined
  return pages.find((page) => page.showMissing && path.startsWith(`${page.path}/`))?.showMissing?.()
}

function addPages(table: RouteTable, tools: ServeTools): void {
  for (const page of tools.pages) {
    const serve: Serve = (exchange) => sendPage(page.show(exchange.request.headers.accept), exchange, tools)
    table.add('GET', page.path, serve)
    table.add('HEAD', page.path, serve)
  }
}

function addMounts(table: RouteTable, { mounts, identified, fail }: ServeTools): void {
  for (const { prefix, handle } of mounts) {
    const serve: Serve = (exchange) => {
      Promise.resolve(handle(exchange, () => identified(exchange))).catch((error: unknown) => fail(error, exchange))
    }
    for (const method of [...METHODS, 'OPTIONS'] as const) {
      table.add(method, prefix, serve)
      table.add(method, `${prefix}/*`, serve)
    }
  }
}

/** Identifies the caller, runs the operation and sends its response. */
function serveOperation(operation: Operation, tools: ServeTools): Serve {
  const { identified, respond, fail } = tools
  const authenticate = makeAuthenticate(operation, tools)
  const requireStanding = makeRequireStanding(operation, tools)
  const read = makeReadPayload(operation, tools.bodyLimits, tools.bodyTurns)
  const run = tools.operations.runner(operation)

  const carryOut = (principal: Principal, exchange: Exchange): Promise<void> => {
    // Set here so that the log line has it even if the request is refused below.
    exchange.principal = principal
    identified(exchange)
    return run(principal, exchange, exchange).then((response) => respond(response, exchange, operation.produces))
  }

  const readPayload = (exchange: Exchange): Payload | Promise<Payload> => {
    const payload = read(exchange)
    if (!(payload instanceof Promise)) return payload
    return payload.then((arrived) => requireStanding(exchange)?.then(() => arrived) ?? arrived)
  }

  return (exchange) => {
    exchange.readPayload = readPayload
    exchange.requireStanding = () => requireStanding(exchange)
    const failed = (error: unknown): void => fail(error, exchange)
    const principal = authenticate(exchange)
    if (principal instanceof Promise) principal.then((known) => carryOut(known, exchange)).catch(failed)
    else carryOut(principal, exchange).catch(failed)
  }
}

/** Returns what a caller may know of an error: nothing of a bug. */
function publicFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof StoreUnavailable) return unavailable(error.callerMessage)
  return internal()
}
