// A load generator that costs little itself: kept-alive sockets, one request at a time on each, answers parsed by length only.
import net from 'node:net'
import { performance } from 'node:perf_hooks'

export interface Answer {
  status: number
  body: Buffer
}

const HEAD_END = Buffer.from('\r\n\r\n')

export class Connection {
  readonly #socket: net.Socket
  #buffer: Buffer = Buffer.alloc(0)
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | null = null

  constructor(port: number) {
    this.#socket = net.connect({ host: '127.0.0.1', port, noDelay: true })
    this.#socket.on('data', (chunk) => this.#read(chunk))
    this.#socket.on('error', (error) => this.#waiting?.reject(error))
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')))
  }

  send(request: Buffer | string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#waiting = null
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    const end = this.#buffer.indexOf(HEAD_END)
    if (end === -1) return
    const head = this.#buffer.toString('latin1', 0, end)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (this.#buffer.length < end + 4 + length) return
    const answer = { status: Number(head.slice(9, 12)), body: this.#buffer.subarray(end + 4, end + 4 + length) }
    this.#buffer = this.#buffer.subarray(end + 4 + length)
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.resolve(answer)
  }
}

export interface Call {
  method: string
  path: string
  token?: string
  contentType?: string
  body?: string
}

export function httpRequest({ method, path, token, contentType = 'application/json', body }: Call): string {
  const authorization = token ? `authorization: Bearer ${token}\r\n` : ''
  const content = body === undefined ? '' : `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${authorization}${content}\r\n${body ?? ''}`
}

export interface Rate {
  perSecond: number
  requests: number
  p50: number
  p99: number
}

export const quantile = (sorted: readonly number[], q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN

/** Keeps `connections` requests under way for `seconds`; a status that is not expected ends the run. */
export async function hammer(port: number, connections: number, seconds: number, next: () => string, expected: readonly number[]): Promise<Rate> {
  const times: number[] = []
  const until = performance.now() + seconds * 1000
  const started = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = new Connection(port)
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
  return { perSecond: times.length / took, requests: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}
