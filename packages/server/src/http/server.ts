// The HTTP transport: all that is common to every request, such as the request id, the error envelope, draining, and
// the checks that refuse a request before its operation does. What a request means is up to the operations.
import type { IncomingMessage } from 'node:http'
import { randomBytes } from 'node:crypto'
import type { Operation } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { Clock } from '../kernel/clock.ts'
import { Failure, invalid, unavailable } from '../kernel/failure.ts'
import type { Payload } from '../operations/call.ts'
import type { Operations } from '../operations/perform.ts'
import { makeAuthenticate, makeRequireStanding, type AuthenticateTools } from './authenticate.ts'
import { makeBodyTurns, type BodyTurns } from './body-turns.ts'
import { endWithNewest } from './connection.ts'
import { makeConnections, type Connections } from './connections.ts'
import { Exchange } from './exchange.ts'
import type { OnShutdown } from './gone-signal.ts'
import { makeInHand, type InHandTools } from './in-hand.ts'
import type { Mount } from './mount.ts'
import { wantsHtml, type Page, type ShownPage } from './page.ts'
import { makeReadPayload, type BodyLimits } from './payload.ts'
import { sendText } from './respond.ts'
import { makeResponding, type Responding } from './responding.ts'
import { makeRouteTable, METHODS, type RouteTable, type Serve } from './route-table.ts'

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

interface ServeTools extends ServerTools, Responding {
  bodyTurns: BodyTurns
  identified(exchange: Exchange): void
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
