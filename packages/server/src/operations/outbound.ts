// /agents/{id}/push-secret and /delivery/stream
import { operations } from '@sensorium/contract'
import { rotatePushSecret } from '../outbound/push-secret.ts'
import type { Streams } from '../outbound/streams.ts'
import type { Secrets } from '../kernel/secrets.ts'
import { own, write, type Binding } from './binding.ts'

interface OutboundOperationTools {
  secrets: Secrets
  streams: Streams
  now(): number
}

const DEFAULT_IN_FLIGHT = 50

export function outboundOperations({ secrets, streams, now }: OutboundOperationTools): Binding[] {
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

    own(operations.streamDeliveries, async ({ principal, query }) => {
      const mailbox = { tenantId: principal.tenantId, recipientId: principal.id }
      const inFlight = query.max_in_flight ?? DEFAULT_IN_FLIGHT
      const place = await streams.admit(mailbox, inFlight)
      return { status: 200, stream: place.open, unopened: place.leave }
    }),
  ]
}
