// A proxy between a client and the service that mistreats some requests, by a plan from a seed: it refuses the
// connection, disconnects before or after the service has done its work, delays, truncates, repeats.
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Treatment = 'pass' | 'drop' | 'lose' | 'delay' | 'truncate' | 'repeat' | 'error'

export interface Proxy {
  url: string
  /** How often each treatment was applied. */
  readonly given: Map<Treatment, number>
  close(): Promise<void>
}

const send = (
  target: string,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }> =>
  new Promise((resolve, reject) => {
    const out = request(
      target + incoming.url,
      { method: incoming.method!, headers: incoming.headers },
      async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk as Buffer)
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) })
      },
    )
    out.on('error', reject)
    out.end(body)
  })

export async function startProxy(target: string, choose: (incoming: IncomingMessage) => Treatment): Promise<Proxy> {
  const given = new Map<Treatment, number>()

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const treatment = choose(incoming)
    given.set(treatment, (given.get(treatment) ?? 0) + 1)
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    if (treatment === 'drop') return void incoming.socket.destroy()
    if (treatment === 'error')
      return void outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
    if (treatment === 'repeat') await send(target, incoming, body)
    const response = await send(target, incoming, body)
    if (treatment === 'lose') return void incoming.socket.destroy()
    if (treatment === 'delay') await new Promise(setImmediate)
    const { 'transfer-encoding': _, connection: __, ...headers } = response.headers
    outgoing.writeHead(response.status, { ...headers, 'content-length': response.body.length })
    if (treatment !== 'truncate') return void outgoing.end(response.body)
    outgoing.write(response.body.subarray(0, response.body.length >> 1), () => incoming.socket.destroy())
  }

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    given,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The same numbers for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
