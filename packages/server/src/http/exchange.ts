// One request and its response on their way. To the operations it is a call: what was sent, and its
// options.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { Principal } from '../auth/principal.ts'
import type { StopSignal } from '../kernel/stop.ts'
import type { CallOptions, Input, Payload } from '../operations/call.ts'
import type { Verdict } from '../operations/rate-limit.ts'
import { bearerOf } from './bearer.ts'
import { prefersStrict } from './prefer.ts'
import { goneSignal, type WhenLeaving } from './gone-signal.ts'
import type { Holding } from './body-room.ts'
import { UNCOUNTED } from './body-room.ts'
import type { Place } from './places.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** How a body is arriving: its bytes so far, and for how many seconds it has been read. */
interface Reading {
  bytes: number
  seconds: number
}

interface Discarding extends Reading {
  /** Of those bytes, what had come a second ago, and for how many seconds nothing has come. */
  seen: number
  silentSeconds: number
}

/** Up to the path. */
const ABSOLUTE = /^https?:\/\/[^/?]*/i

export class Exchange implements Input, CallOptions {
  readonly started = performance.now()
  /** The route that was found, as metrics name it. */
  route = 'unknown'
  params: Record<string, string | undefined> = {}
  query: Record<string, unknown> = {}
  principal: Principal | null = null
  /** Who its token belongs to, in the turn in which it came; who is calling now is `principal`. */
  seen: Principal | null = null
  /** The client's address, as limits and logs know it. */
  clientAddress = ''
  /** The share of the node's places that it takes one of. */
  place: Place | null = null
  /** What its body takes of the room for bodies. */
  room: Holding | null = null
  /** Whether it counts as a request in hand. */
  isCounted = true
  /** Whether the work on it has begun. */
  isUnderWay = false
  /** Whether the connection ends with its response. */
  isLast = false
  /** Whether its response is decided: what is found out later is dropped. */
  hasResponse = false
  /** The body that is being read for the operation. */
  reading: Reading | null = null
  /** The rest of a body that nobody wants, thrown away so that the response reaches its sender. */
  discarding: Discarding | null = null
  readonly id: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly #whenLeaving: WhenLeaving
  /** How the route reads its body. */
  readPayload: ((exchange: Exchange) => Payload | Promise<Payload>) | null = null
  /** Names and values in turn, as they will be written: nothing is stored and looked up again on the way. */
  readonly #head: string[]
  #path: string | null = null

  constructor(id: string, request: IncomingMessage, response: ServerResponse, whenLeaving: WhenLeaving) {
    this.id = id
    this.#whenLeaving = whenLeaving
    this.request = request
    this.response = response
    this.#head = ['x-request-id', id, 'x-content-type-options', 'nosniff', 'cache-control', 'no-store']
  }

  get method(): string {
    return this.request.method!
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers
  }

  /** The token of its Authorization; null where that is missing or something else. */
  get bearer(): string | null {
    return bearerOf(this.request)
  }

  get path(): string {
    if (this.#path !== null) return this.#path
    const url = this.request.url!
    // A client may name the whole address (RFC 9112, 3.2.2); its host says nothing here.
    const start = url.startsWith('/') ? 0 : (ABSOLUTE.exec(url)?.[0].length ?? 0)
    const end = url.indexOf('?', start)
    return (this.#path = (end === -1 ? url.slice(start) : url.slice(start, end)) || '/')
  }

  get isChunked(): boolean {
    return this.request.headers['transfer-encoding'] !== undefined
  }

  get hasBody(): boolean {
    const length = this.request.headers['content-length']
    return this.isChunked || (length !== undefined && length !== '0')
  }

  /** Whether its body may be one of those that share a room: see body-room.ts. */
  get mayBeLong(): boolean {
    return this.isChunked || Number(this.request.headers['content-length'] ?? 0) > UNCOUNTED
  }

  /** Whether the client has announced a body of which not all has arrived. */
  get isBodyOutstanding(): boolean {
    return !this.request.complete && this.hasBody
  }

  get requestId(): string {
    return this.id
  }

  get idempotencyKey(): string | undefined {
    return this.request.headers['idempotency-key'] as string | undefined
  }

  get origin(): string {
    return `http://${this.request.headers.host ?? 'localhost'}`
  }

  get strict(): boolean {
    const { prefer } = this.request.headers
    return prefer !== undefined && prefersStrict(String(prefer))
  }

  strictApplied(): void {
    this.#head.push('preference-applied', 'handling=strict')
  }

  payload(): Payload | Promise<Payload> {
    // Its body broke while it was admitted, and it was refused: nothing is to be done for it any more.
    if (this.hasResponse) throw new Error('the request was refused')
    return this.readPayload!(this)
  }

  isGone(): boolean {
    return this.response.destroyed
  }

  signal(): StopSignal {
    return goneSignal(this.response, this.#whenLeaving)
  }

  limited({ limit, remaining, resetSeconds }: Verdict): void {
    this.#head.push('x-ratelimit-limit', String(limit))
    this.#head.push('x-ratelimit-remaining', String(remaining))
    this.#head.push('x-ratelimit-reset', String(resetSeconds))
  }

  /** Lets caches keep the response, as this says; left alone, none may. */
  cacheControl(value: string): void {
    this.#head[this.#head.indexOf('cache-control') + 1] = value
  }

  /** Adds a header to the response. */
  header(name: string, value: string): void {
    this.#head.push(name, value)
  }

  /** Writes the head of a response whose body the caller writes. */
  open(status: number, headers: Readonly<Record<string, string>> | undefined): ServerResponse {
    for (const name in headers) this.#head.push(name, headers[name]!)
    return this.response.writeHead(status, this.#head)
  }
}
