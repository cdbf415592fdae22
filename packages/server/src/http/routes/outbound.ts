// /agents/{id}/push-secret and /delivery/stream
import { operations } from '@sensorium/contract'
import type { ServerResponse } from 'node:http'
import { rotatePushSecret } from '../../outbound/push-secret.ts'
import type { Streams } from '../../outbound/streams.ts'
import type { Sink } from '../../outbound/stream.ts'
import type { Secrets } from '../../kernel/secrets.ts'
import type { Answer } from '../answer.ts'
import { own, write, type Route } from '../route.ts'

export interface OutboundRouteTools {
  secrets: Secrets
  streams: Streams
  now(): number
}

const DEFAULT_IN_FLIGHT = 50
/** The kernel notices a peer that vanished without a word. */
const KEEP_ALIVE_MS = 15_000

const sinkOf = (raw: ServerResponse): Sink => ({
  write: (text) => raw.destroyed || raw.write(text),
  end: (text) => void (raw.destroyed || raw.end(text)),
  destroy: () => void raw.destroy(),
})

export function outboundRoutes({ secrets, streams, now }: OutboundRouteTools): Route[] {
  return [
    write(operations.createPushSecret, async ({ principal, params }, tx) => ({
      status: 201,
      json: {
        push_secret: await rotatePushSecret(
          tx,
          secrets,
          { tenantId: principal.tenantId, recipientId: params.id },
          now(),
        ),
      },
      secret: true,
    })),

    own(
      operations.streamDeliveries,
      async ({ principal, query, headers, openStream, response: raw }): Promise<Answer> => {
        const mailbox = { tenantId: principal.tenantId, recipientId: principal.id }
        const token = (headers.authorization ?? '').slice('Bearer '.length)
        // What it hands out comes in a later turn, after the head below.
        const stream = streams.open(mailbox, token, query.max_in_flight ?? DEFAULT_IN_FLIGHT, sinkOf(raw))
        openStream({
          'content-type': 'text/event-stream; charset=utf-8',
          // Proxies that collect an answer before they pass it on would hold every delivery back.
          'x-accel-buffering': 'no',
        })
        raw.socket?.setKeepAlive(true, KEEP_ALIVE_MS)
        raw.on('drain', stream.drained)
        raw.once('close', stream.gone)
        if (raw.destroyed) stream.gone()
        raw.write(': open\n\n')
        return { status: 200 }
      },
    ),
  ]
}
