// Two clients. `Connection` costs little itself: a kept-alive socket, and responses read by their length only, so it
// measures the server. `FetchClient` is what an agent written for Node uses. It costs more than a small server does, so
// it measures what such an agent gets.
import net from 'node:net'
import { performance } from 'node:perf_hooks'

export interface Answer {
  status: number
  body: Buffer
}

const HEAD_END = Buffer.from('\r\n\r\n')

export interface Call {
  method: string
  path: string
  token?: string
  contentType?: string
  /** Additional headers. */
  headers?: Readonly<Record<string, string>>
  body?: string
}

export interface Client {
  send(call: Call): Promise<Answer>
  close(): void
}

export class FetchClient implements Client {
  readonly #origin: string
  constructor(port: number) {
    this.#origin = `http://127.0.0.1:${port}`
  }

  async send({ method, path, token, contentType = 'application/json', headers, body }: Call): Promise<Answer> {
    const response = await fetch(this.#origin + path, {
      method,
      headers: {
        ...headers,
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body }),
    })
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
  }

  close(): void {}
}

export class Connection implements Client {
  readonly #socket: net.Socket
  #buffer: Buffer = Buffer.alloc(0)
  /** In the order of the requests, in which the responses arrive. */
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void }[] = []

  constructor(port: number) {
    this.#socket = net.connect({ host: '127.0.0.1', port, noDelay: true })
    this.#socket.on('data', (chunk) => this.#read(chunk))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  send(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#socket.write(httpRequest(call))
    })
  }

  close(): void {
    this.#waiting = []
    this.#socket.destroy()
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }

  #read(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    for (;;) {
      const end = this.#buffer.indexOf(HEAD_END)
      if (end === -1) return
      const head = this.#buffer.toString('latin1', 0, end)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (this.#buffer.length < end + 4 + length) return
      const answer = { status: Number(head.slice(9, 12)), body: this.#buffer.subarray(end + 4, end + 4 + length) }
      this.#buffer = this.#buffer.subarray(end + 4 + length)
      this.#waiting.shift()?.resolve(answer)
    }
  }
}

export function httpRequest({
  method,
  path,
  token,
  contentType = 'application/json',
  headers = {},
  body,
}: Call): string {
  const further = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const authorization = token ? `authorization: Bearer ${token}\r\n` : ''
  const content =
    body === undefined ? '' : `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${authorization}${further}${content}\r\n${body ?? ''}`
}

export interface Rate {
  perSecond: number
  requests: number
  p50: number
  p99: number
}

export const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN

/** Keeps `connections` requests in flight for `seconds`. An unexpected status ends the run. */
export async function hammer(
  port: number,
  connections: number,
  seconds: number,
  next: () => Call,
  expected: readonly number[],
  Kind: new (port: number) => Client = Connection,
): Promise<Rate> {
  const times: number[] = []
  const until = performance.now() + seconds * 1000
  const started = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = new Kind(port)
      while (performance.now() < until) {
        const sent = performance.now()
        const { status, body } = await connection.send(next())
        if (!expected.includes(status)) throw new Error(`answered ${status}: ${body.toString('utf8', 0, 300)}`)
        times.push(performance.now() - sent)
      }
      connection.close()
    }),
  )
  const took = (performance.now() - started) / 1000
  times.sort((a, b) => a - b)
  return {
    perSecond: times.length / took,
    requests: times.length,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  }
}
