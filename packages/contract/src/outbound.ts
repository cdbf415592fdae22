// What the service sends on its own: pushes, signed with a secret of the agent, and streams.
import { operation } from './operation.ts'
import { Type } from './shapes.ts'

export const MAX_IN_FLIGHT = 100

export const outboundOperations = {
  createPushSecret: operation({
    id: 'createPushSecret',
    audit: [],
    summary: 'Create a new push secret',
    description:
      'Pushes are signed with this secret, as Standard Webhooks specifies. It is shown only in this response. The previous secret stays valid for 24 hours, and every push carries both signatures until then.',
    tag: 'Agents',
    method: 'POST',
    path: '/agents/{id}/push-secret',
    access: { scope: 'admin', self: 'receive' },
    success: {
      201: {
        description: 'The secret',
        schema: Type.Object(
          {
            push_secret: Type.String({
              examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
              description: 'To get the HMAC key, decode the text after `whsec_` from base64.',
            }),
          },
          { $id: 'PushSecret' },
        ),
      },
    },
  }),
  streamDeliveries: operation({
    id: 'streamDeliveries',
    summary: 'Stream the mailbox',
    description:
      'A stream of server-sent events. Each delivery is sent as `event: delivery`, with the delivery id as `id` and the Delivery as JSON in `data`. A comment is sent every 15 seconds. Acknowledge with POST /delivery/ack. When the stream ends, deliveries that were not acknowledged are given back at once, except those whose leases were extended.',
    tag: 'Delivery',
    method: 'GET',
    path: '/delivery/stream',
    access: { scope: 'receive' },
    query: Type.Object({
      max_in_flight: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_IN_FLIGHT,
          default: 50,
          examples: [50],
          description: 'How many unacknowledged deliveries the stream may hold.',
        }),
      ),
    }),
    produces: 'text/event-stream',
    success: {
      200: {
        description: 'Deliveries as they become due',
        schema: Type.String({
          examples: [
            'id: dlv_01hv3k8z9q4m7t2x5c6w8r0s1d\nevent: delivery\ndata: {"id":"dlv_01hv3k8z9q4m7t2x5c6w8r0s1d","event_id":"order-1-created",…}\n\n',
          ],
        }),
      },
    },
  }),
} as const
