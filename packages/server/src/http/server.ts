// The HTTP door. Everything that holds for every request stands here once: request id, error envelope, draining, limits, log
// line, metrics. A route only brings its operation and its handler.
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { randomBytes } from 'node:crypto'
import type { Operation } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { Failure, internal, invalid, methodNotAllowed, notFound, unavailable, unsupportedMediaType } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import { StoreUnavailable } from '../store/db.ts'
import type { Answer } from './answer.ts'
import { makeAdmit, type AdmitTools } from './admit.ts'
import { mediaType, readBody } from './body.ts'
import { BATCH_TYPE } from './cloud-events.ts'
import type { Metrics } from './metrics.ts'
import { makePerform, refusal, type PerformTools } from './perform.ts'
import type { Route } from './route.ts'

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal
    /** Counts a request out that became a stream: it is answered, and bounded elsewhere. */
    becameStream?: () => void
  }
  interface FastifyContextConfig {
    bodyLimit?: number | 'event'
  }
}

export interface ServerTools extends AdmitTools, Omit<PerformTools, 'whenLeaving'> {
  log: Logger
  metrics: Metrics
  bodyLimits: Record<NonNullable<Operation['bodyLimit']> | 'event_batch' | 'small', number>
  routes: readonly Route[]
}

export interface HttpServer {
  app: FastifyInstance
  /** Refuses new requests with 503 and resolves when those taken are finished; what only waits is told to stop waiting. */
  drain(): Promise<void>
  inFlight(): number
}

/** Requests taken and not answered; beyond it the node says so instead of growing. Waiting polls count too; streams have a
 * bound of their own. */
const MAX_IN_FLIGHT = 10_000
const JSON_TYPE = 'application/json; charset=utf-8'
/** In metrics and logs only: nobody was there to be answered. */
const CLIENT_WENT_AWAY = 499
const REQUEST_ID = /^[\x20-\x7e]{1,128}$/

function requestIdMaker(): (request: { headers: Record<string, string | string[] | undefined> }) => string {
  const node = randomBytes(6).toString('hex')
  let n = 0
  return ({ headers }) => {
    const given = headers['x-request-id']
    return typeof given === 'string' && REQUEST_ID.test(given) ? given : `req_${node}${(n++).toString(36).padStart(8, '0')}`
  }
}

/** `/agents/{id}` of the contract is `/v1/agents/:id` of the router. */
export const routePath = ({ base, path }: Operation): string => (base === 'v1' ? '/v1' : '') + path.replace(/\{(\w+)\}/g, ':$1')

const pathOf = (request: FastifyRequest): string => request.url.split('?')[0]!

export function makeServer(tools: ServerTools): HttpServer {
  const { log, metrics, bodyLimits, routes } = tools
  const makeRequestId = requestIdMaker()
  const waiting = new Set<() => void>()
  let draining = false
  let inFlight = 0
  let emptied = (): void => {}

  const app: FastifyInstance = fastify({
    logger: false,
    genReqId: makeRequestId,
    // A parameter may be as long as a request line gets (16 KiB): how long an id is, its own check knows.
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: false, caseSensitive: true },
    // Slow senders lose their socket, not our memory.
    requestTimeout: 60_000,
    keepAliveTimeout: 65_000,
    bodyLimit: Number.MAX_SAFE_INTEGER, // every route has its own, kept while the body streams in
    forceCloseConnections: 'idle',
    // While draining a request is answered in our own envelope, by the hook below.
    return503OnClosing: false,
    frameworkErrors: answerBadUrl,
    clientErrorHandler: answerBrokenRequest,
    // Node would answer these two by itself and without our envelope: a request without Host (checked below), and an Expect
    // that it does not know (which a server may ignore).
    http: { requireHostHeader: false },
  })
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))

  function sendAnswer(answer: Answer, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    reply.code(answer.status)
    if (answer.headers) reply.headers(answer.headers)
    if (answer.text !== undefined) return reply.type(JSON_TYPE).send(answer.text)
    if (answer.json === undefined) return reply.send()
    if (answer.status >= 400) {
      const { error } = answer.json as { error?: Record<string, unknown> }
      if (error) return reply.type(JSON_TYPE).send(JSON.stringify({ error: { ...error, request_id: request.id } }))
    }
    return reply.type(JSON_TYPE).send(JSON.stringify(answer.json))
  }

  function sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const failure = asFailure(error, request)
    // A client that hangs up in the middle of its body is no failure of ours, and nobody reads the answer.
    const hungUp = request.raw.socket.destroyed
    if (failure.code === 'internal_error' && !hungUp) log.error({ err: error, request_id: request.id, path: pathOf(request) }, 'unexpected failure')
    if (failure.code === 'service_unavailable') log.warn({ err: error, request_id: request.id }, 'request not taken')
    // The framework closes the connection on a body it did not read. The rest of this one is read and thrown away instead:
    // a client that is still sending would meet a closed socket and never see the answer.
    if (failure.code === 'payload_too_large' && !draining) reply.removeHeader('connection')
    return sendAnswer(refusal(failure), request, reply)
  }

  app.setErrorHandler((error, request, reply) => sendFailure(error, request, reply))

  const stamp = (request: FastifyRequest, reply: FastifyReply): void =>
    void reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })

  // A path that cannot be decoded is no path of ours. It meets no route and none of the hooks.
  function answerBadUrl(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
    take(request, reply)
    sendFailure(notFound('path', pathOf(request)), request, reply)
  }

  const whenLeaving: PerformTools['whenLeaving'] = (stop) => {
    if (draining) stop()
    waiting.add(stop)
    return () => void waiting.delete(stop)
  }

  // Closed, not answered: a client that goes away before its answer must be counted out as well.
  function take(request: FastifyRequest, reply: FastifyReply): void {
    inFlight++
    stamp(request, reply)
    const started = performance.now()
    const countOut = (status: () => number): void => {
      request.becameStream = () => {}
      reply.raw.off('close', closed)
      report(request, status(), performance.now() - started)
      if (--inFlight === 0) emptied()
    }
    const closed = (): void => countOut(() => (reply.raw.writableFinished ? reply.statusCode : CLIENT_WENT_AWAY))
    reply.raw.on('close', closed)
    request.becameStream = () => countOut(() => reply.raw.statusCode)
  }

  app.addHook('onRequest', (request, reply, done) => {
    take(request, reply)
    if (draining) reply.header('connection', 'close')
    // The process runs to the end, and that is all that its health says.
    if (draining && pathOf(request) !== '/healthz') done(unavailable('This node is shutting down'))
    else if (inFlight > MAX_IN_FLIGHT) done(unavailable('This node has too many requests in hand'))
    else if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      done(invalid({ field: 'Host', value: null, expected: 'the name of the host', example: 'localhost:8080' }))
    }
    // Before the body: what cannot be done anyway is not read.
    else if (request.is404) done(noRoute(request))
    else done()
  })

  function report(request: FastifyRequest, status: number, ms: number): void {
    const route = request.routeOptions.url ?? 'unknown'
    metrics.request(request.method, route, status, ms / 1000)
    const principal = request.principal
    const known = principal !== undefined && principal.tenantId !== ''
    log.request({
      requestId: request.id, method: request.method, path: pathOf(request), status, ms,
      tenant: known ? principal.tenantId : null,
      principal: known ? principal.id : null,
    })
  }

  // A batch may be larger than an event, on the same path.
  function bodyLimitOf(request: FastifyRequest): number {
    const limit = request.routeOptions.config.bodyLimit ?? bodyLimits.small
    return limit === 'event' ? (mediaType(request.headers['content-type']) === BATCH_TYPE ? bodyLimits.event_batch : bodyLimits.event) : limit
  }

  // One parser for every media type: it holds bytes up to the route's limit and leaves their meaning to what comes later.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    readBody(payload, request.headers['content-length'], bodyLimitOf(request)),
  )

  // Every route there is, pages too, so that a wrong method on a known path can be told from an unknown path.
  const patterns: { method: string; match: RegExp }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const match = new RegExp(`^${url.replace(/[.+()]/g, '\\$&').replace(/\*/g, '.*').replace(/:\w+/g, '[^/]*')}$`)
    for (const name of [method].flat()) patterns.push({ method: name, match })
  })

  for (const route of routes) {
    const { operation } = route
    const admit = makeAdmit(operation, tools)
    const perform = makePerform(route, { ...tools, whenLeaving })
    app.route({
      method: operation.method,
      url: routePath(operation),
      // A HEAD must not do anything: polling and streaming lease what they read.
      exposeHeadRoute: operation.method === 'GET' && route.kind === 'read',
      config: { bodyLimit: operation.bodyLimit === 'event' && operation.consumes?.includes(BATCH_TYPE) ? 'event' : bodyLimits[operation.bodyLimit ?? 'small'] },
      onRequest(request, reply, done) {
        try {
          const admitted = admit(request, reply)
          if (!(admitted instanceof Promise)) {
            request.principal = admitted
            done()
            return
          }
          admitted.then((principal) => {
            request.principal = principal
            done()
          }, done)
        } catch (error) {
          done(error as Error)
        }
      },
      async handler(request, reply) {
        const { answer, replayed } = await perform(request, reply)
        if (reply.sent || reply.raw.headersSent) {
          request.becameStream?.()
          return reply.hijack()
        }
        if (replayed) reply.header('idempotent-replayed', 'true')
        return sendAnswer(answer, request, reply)
      },
    })
  }

  function noRoute(request: FastifyRequest): Failure {
    const path = pathOf(request)
    const closed = tools.operatorToken === null && path.startsWith('/operator')
    const allowed = closed ? [] : [...new Set(patterns.filter(({ match }) => match.test(path)).map(({ method }) => method))]
    return allowed.length > 0 ? methodNotAllowed(request.method, allowed) : notFound('path', path)
  }
  app.setNotFoundHandler((request, reply) => sendFailure(noRoute(request), request, reply))

  function drain(): Promise<void> {
    draining = true
    for (const stop of waiting) stop()
    return inFlight === 0 ? Promise.resolve() : new Promise((resolve) => (emptied = resolve))
  }

  return { app, drain, inFlight: () => inFlight }
}

function asFailure(error: unknown, request: FastifyRequest): Failure {
  if (error instanceof Failure) return error
  if (error instanceof StoreUnavailable) return unavailable('The store cannot be reached')
  const { code, statusCode } = error as { code?: string; statusCode?: number }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedMediaType(request.headers['content-type'] ?? '', ['application/json'])
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return invalid({ field: 'Content-Length', value: request.headers['content-length'], expected: 'the length of the body', example: '2' })
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return invalid({ field: 'body', value: null, expected: 'a well-formed HTTP request', example: null })
  }
  return internal()
}

// What is not HTTP at all never becomes a request; the socket still gets our envelope.
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const id = `req_${randomBytes(10).toString('hex')}`
  const failure = invalid({ field: 'request', value: null, expected: 'a well-formed HTTP request', example: null })
  const body = JSON.stringify({ error: { code: failure.code, message: failure.message, request_id: id, details: failure.details } })
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nX-Request-Id: ${id}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n` +
      `Content-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
