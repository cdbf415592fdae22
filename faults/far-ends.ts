// What is not ours and answers on a socket: the endpoint of an agent that is pushed to, and a service that embeds. Both
// answer at once, until they hang: then they take what comes and say nothing.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Handed } from './ledger.ts'

export interface FarEnds {
  url: string
  /** Called with what is pushed to `/push/<name>`, before the response. */
  onPush(name: string, hear: (delivery: Handed) => void): void
  hang(): void
  mend(): void
  stop(): Promise<void>
}

const DIMENSIONS = 8

async function bodyOf<T>(request: IncomingMessage): Promise<T> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString()) as T
}

/** Vectors that say little: what a text means is not what is tried here. */
const vectorsOf = (texts: readonly string[]): object[] =>
  texts.map((text, index) => ({
    index,
    embedding: Array.from({ length: DIMENSIONS }, (_, i) => 1 + ((text.length + i) % 7)),
  }))

export async function startFarEnds(): Promise<FarEnds> {
  const pushed = new Map<string, (delivery: Handed) => void>()
  const unanswered = new Set<ServerResponse>()
  let hangs = false

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    if (hangs) return void unanswered.add(response)
    if (path.endsWith('/embeddings')) {
      const { input } = await bodyOf<{ input: string[] }>(request)
      response.setHeader('content-type', 'application/json')
      return void response.end(JSON.stringify({ data: vectorsOf(input) }))
    }
    pushed.get(path)?.(await bodyOf<Handed>(request))
    response.statusCode = 204
    response.end()
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onPush: (name, hear) => void pushed.set(`/push/${name}`, hear),
    hang: () => void (hangs = true),
    mend() {
      hangs = false
      for (const response of unanswered) response.destroy()
      unanswered.clear()
    },
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
