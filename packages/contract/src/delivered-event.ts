// An event as its recipient gets it: the published envelope, and what the service adds.
import { Event, EVENT_EXAMPLE } from './events.ts'
import { Relationship } from './relationships.ts'
import { Type, type Static, fraction, id, oneOf } from './shapes.ts'

export const Enrichment = Type.Object(
  {
    depth: oneOf(['light', 'full']),
    memories: Type.Array(
      Type.Object({
        id: id('mem'),
        title: Type.String({ examples: ['Anna wants invoices by post'] }),
        score: fraction({ examples: [0.74] }),
        content: Type.Optional(
          Type.String({ examples: ['She asked twice.'], description: 'Only with the depth `full`.' }),
        ),
        relationships: Type.Optional(
          Type.Array(Relationship, { description: 'Only with the depth `full`. The strongest first.' }),
        ),
      }),
      { description: 'The most relevant first.' },
    ),
    recent_events: Type.Optional(
      Type.Array(
        Type.Object({
          event_id: Type.String({ examples: ['order-1-created'] }),
          type: Type.String({ examples: ['com.example.order.created'] }),
          source: Type.String({ examples: ['/orders'] }),
          time: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: ['2030-01-31T12:00:00Z'] }),
          data: Type.Optional(Type.Unknown({ examples: [{ total: 120 }] })),
        }),
        {
          description:
            'Only with the depth `full`. Earlier events with the same subject that this agent was sent, latest first.',
        },
      ),
    ),
  },
  {
    $id: 'Enrichment',
    description: 'What the receiver remembers about the event, if an interest of it asks for that.',
  },
)
export type Enrichment = Static<typeof Enrichment>

export const DeliveredEvent = Type.Object(
  {
    ...Event.properties,
    enrichment: Type.Optional(Enrichment),
    original: Type.Optional(
      Type.Unknown({ description: 'The body that came through a webhook or connector, before it was mapped.' }),
    ),
  },
  {
    $id: 'DeliveredEvent',
    additionalProperties: true,
    examples: [
      {
        ...EVENT_EXAMPLE,
        enrichment: {
          depth: 'light',
          memories: [{ id: 'mem_01hv3k8z9q4m7t2x5c6w8r0s1d', title: 'Orders over 100 need a signature', score: 0.74 }],
        },
      },
    ],
    description: 'The published event with its extension attributes, and what the service adds.',
  },
)
/** Extension attributes have any name. */
export type DeliveredEvent = Static<typeof DeliveredEvent> & Record<string, unknown>
