// What the service sends on its own: pushes, signed with a secret of the agent, and streams.
import { operation } from './operation.ts'
import { Type } from './shapes.ts'

export const MAX_IN_FLIGHT = 100

export const outboundOperations = {
  createPushSecret: operation({
    id: 'createPushSecret',
    audit: [],
    summary: 'Make a new push secret',
    description:
      'Pushes are signed after Standard Webhooks with this secret. It is in this response only. The one before it stays valid for 24 hours, and every push carries both signatures until then.',
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
              description: 'The HMAC key is what the text behind `whsec_` decodes to from base64.',
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
      'Server-sent events: `event: delivery`, the delivery id as `id`, the Delivery as JSON in `data`, and a comment every 15 seconds. Acknowledge with POST /delivery/ack. A stream that ends gives back at once what was not acknowledged.',
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
