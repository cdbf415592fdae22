// One request and its response on their way through the door.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { Principal } from '../auth/principal.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

export class Exchange {
  readonly started = performance.now()
  /** The route that was found, as metrics name it. */
  route = 'unknown'
  params: Record<string, string | undefined> = {}
  query: Record<string, unknown> = {}
  principal: Principal | null = null
  /** Whether it counts as a request in hand. */
  isCounted = true
  /** Whether the connection ends with its answer. */
  isLast = false
  readonly id: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Names and values in turn, as they will be written: nothing is stored and looked up again on the way. */
  readonly #head: string[]

  constructor(id: string, request: IncomingMessage, response: ServerResponse) {
    this.id = id
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

  get path(): string {
    const url = this.request.url!
    const end = url.indexOf('?')
    return end === -1 ? url : url.slice(0, end)
  }

  /** The path of the route with what it was given for its parameters: the same for every way to write it. */
  get resource(): string {
    return this.route.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(this.params[name] ?? ''))
  }

  /** Adds a header to the response. */
  header(name: string, value: string): void {
    this.#head.push(name, value)
  }

  /** Writes the head of a response whose body the caller writes. */
  open(status: number, headers: Readonly<Record<string, string>>): ServerResponse {
    for (const name in headers) this.#head.push(name, headers[name]!)
    return this.response.writeHead(status, this.#head)
  }

  /** Writes the whole response. */
  send(
    status: number,
    headers: Readonly<Record<string, string>> | undefined,
    type: string,
    body: string | undefined,
  ): void {
    const head = this.#head
    for (const name in headers) head.push(name, headers[name]!)
    if (body !== undefined) head.push('content-type', type, 'content-length', String(Buffer.byteLength(body)))
    else if (status !== 204) head.push('content-length', '0')
    this.response.writeHead(status, head)
    this.response.end(body)
  }
}
