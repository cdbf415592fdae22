// One request and its response on their way. To the operations it is a call: its input and its options.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { Principal } from '../auth/principal.ts'
import type { StopSignal } from '../kernel/stop.ts'
import type { Verdict } from '../limits/rate-limit.ts'
import type { CallOptions, Input, Payload } from '../operations/call.ts'
import { bearerOf } from './bearer.ts'
import { asUtf8 } from './header-text.ts'
import { prefersStrict } from './prefer.ts'
import { goneSignal, type OnShutdown } from './gone-signal.ts'
import type { Place } from './places.ts'
import type { Holding } from './room.ts'
import { UNCOUNTED } from './room.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** The progress of a body: its bytes so far, and for how many seconds it has been read. */
interface Reading {
  bytes: number
  seconds: number
}

interface Discarding extends Reading {
  /** How many bytes had arrived a second ago, and for how many seconds none have arrived. */
  seen: number
  silentSeconds: number
}

/** The part of an absolute URL before its path. */
const ABSOLUTE = /^https?:\/\/[^/?]*/i

export class Exchange implements Input, CallOptions {
  readonly started = performance.now()
  /** The route that was found, as metrics name it. */
  route = 'unknown'
  params: Record<string, string | undefined> = {}
  query: Record<string, unknown> = {}
  principal: Principal | null = null
  /** The owner of its token in the turn in which the request arrived; the caller, once identified, is `principal`. */
  cachedPrincipal: Principal | null = null
  /** The client's address, as limits and logs know it. */
  clientAddress = ''
  /** The place that the request holds. */
  place: Place | null = null
  /** The part of the room for bodies that its body takes. */
  room: Holding | null = null
  /** The part of the room for responses that its response takes until it is read. */
  unread: Holding | null = null
  /** Whether it counts as a request in hand. */
  isCounted = true
  /** Whether the work on it has begun. */
  isUnderWay = false
  /** Whether the connection ends with its response. */
  closesConnection = false
  /** Whether its response is decided: a later result or error is dropped. */
  hasResponse = false
  /** For how many seconds its body has been arriving. */
  arrivingSeconds = 0
  /** Whether nothing of its body is read before its turn has come. */
  awaitsTurn = false
  /** The body that is being read for the operation. */
  reading: Reading | null = null
  /** The rest of a body that nobody wants, discarded so that the response reaches its sender. */
  discarding: Discarding | null = null
  readonly id: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly #onShutdown: OnShutdown
  readonly #endsConnection: (exchange: Exchange) => boolean
  readonly #onAnswered: (exchange: Exchange) => void
  /** How the route reads its body. */
  readPayload: ((exchange: Exchange) => Payload | Promise<Payload>) | null = null
  /** Throws or rejects if the token of the caller has ended since it was identified. */
  requireStanding: () => void | Promise<void> = () => {}
  /** Header names and values alternating, as they will be written: none is stored and looked up again on the way. */
  readonly #head: string[]
  #path: string | null = null

  constructor(
    id: string,
    request: IncomingMessage,
    response: ServerResponse,
    onShutdown: OnShutdown,
    endsConnection: (exchange: Exchange) => boolean = () => false,
    onAnswered: (exchange: Exchange) => void = () => {},
  ) {
    this.id = id
    this.#onShutdown = onShutdown
    this.#endsConnection = endsConnection
    this.#onAnswered = onAnswered
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

  /** The bearer token of the Authorization header, null if the header is missing or something else. */
  get bearer(): string | null {
    return bearerOf(this.request)
  }

  get path(): string {
    if (this.#path !== null) return this.#path
    const url = this.request.url!
    // A client may send an absolute URL (RFC 9112, 3.2.2); its host is ignored.
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

  /** Whether its body may be long enough to be counted in the room for bodies: see room.ts. */
  get mayBeLong(): boolean {
    return this.isChunked || Number(this.request.headers['content-length'] ?? 0) > UNCOUNTED
  }

  /** Whether the client has declared a body that has not arrived completely. */
  get isBodyOutstanding(): boolean {
    return !this.request.complete && this.hasBody
  }

  get requestId(): string {
    return this.id
  }

  get idempotencyKey(): string | undefined {
    const key = this.request.headers['idempotency-key'] as string | undefined
    return key === undefined ? undefined : asUtf8(key)
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
    // Its body was found broken while it was being admitted, and it was refused: nothing more is done for it.
    if (this.hasResponse) throw new Error('the request was refused')
    return this.readPayload!(this)
  }

  isClientGone(): boolean {
    return this.response.destroyed
  }

  /**
   * Resolves when the responses before this one on its connection are out, or when the client is gone. Before that, no
   * response may take a turn that it keeps until it is read: the one in front may wait for the same turn.
   */
  async front(): Promise<void> {
    const { response } = this
    if (response.socket !== null || response.destroyed) return
    await new Promise<void>((resolve) => {
      response.once('socket', () => resolve())
      response.once('close', () => resolve())
    })
  }

  signal(): StopSignal {
    return goneSignal(this.response, this.#onShutdown)
  }

  limited({ limit, remaining, resetSeconds }: Verdict): void {
    this.#head.push('x-ratelimit-limit', String(limit))
    this.#head.push('x-ratelimit-remaining', String(remaining))
    this.#head.push('x-ratelimit-reset', String(resetSeconds))
  }

  /** Sets the Cache-Control of the response. Without it, no cache may keep the response. */
  cacheControl(value: string): void {
    this.#head[this.#head.indexOf('cache-control') + 1] = value
  }

  /** Adds a header to the response. */
  header(name: string, value: string): void {
    this.#head.push(name, value)
  }

  #hasHeader(name: string): boolean {
    return this.#head.some((text, i) => i % 2 === 0 && text === name)
  }

  /** Called when its client has the response, while the rest of its body is discarded. */
  answered(): void {
    this.#onAnswered(this)
  }

  /** Writes the head of a response whose body the caller writes. */
  open(status: number, headers: Readonly<Record<string, string>> | undefined): ServerResponse {
    for (const name in headers) this.#head.push(name, headers[name]!)
    if (this.#endsConnection(this) && !this.#hasHeader('connection')) this.#head.push('connection', 'close')
    return this.response.writeHead(status, this.#head)
  }
}
