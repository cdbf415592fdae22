// A receiver of pushes with the TypeScript client: it verifies each push, stores it, responds, and does the work later.
//
// Usage: PUSH_SECRET=whsec_… node examples/push-receiver/receiver.ts [port]
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InvalidPush, verifyPush, type Delivery } from '@sensorium/client'

/** More than the size of an event (at most 1 MiB unless the service is configured otherwise) with its enrichment. */
const LONGEST_BODY = 4 * 1024 * 1024

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > LONGEST_BODY) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Calls `keep` once for each event. A push that arrives again is only acknowledged. */
export function receivePushes(secret: string, keep: (delivery: Delivery) => Promise<void> | void) {
  const kept = new Set<string>()

  async function receive(request: IncomingMessage): Promise<number> {
    const body = await bodyOf(request)
    if (body === null) return 413
    const delivery = await verifyPush(request.headers, body, secret)
    if (kept.has(delivery.event_id)) return 204
    // Stored before the response: after a 2xx the delivery does not come again. Here the store is a list in memory; a
    // real receiver writes to its database, under a unique event_id.
    await keep(delivery)
    kept.add(delivery.event_id)
    return 204
  }

  return createServer((request: IncomingMessage, response: ServerResponse) => {
    receive(request).then(
      (status) => response.writeHead(status).end(),
      // After a 5xx the service retries; a signature that does not match will not match later either.
      (error: unknown) => response.writeHead(error instanceof InvalidPush ? 401 : 500).end(),
    )
  })
}

if (import.meta.main) {
  const server = receivePushes(process.env['PUSH_SECRET']!, ({ event_id, attempt_count }) =>
    console.log(`received ${event_id}, attempt ${attempt_count}`),
  )
  server.listen(Number(process.argv[2] ?? 9000), '127.0.0.1', () =>
    console.log(`listening on ${(server.address() as AddressInfo).port}`),
  )
}
