// Events and how they are published, traced and explained.
import { operation } from './operation.ts'
import { Matched, Reason, Receipt } from './receipts.ts'
import { Type, type Static, dateTime, id, jsonObject, oneOf } from './shapes.ts'

export const STRUCTURED_TYPE = 'application/cloudevents+json'
export const BATCH_TYPE = 'application/cloudevents-batch+json'
export const MAX_EVENT_ID = 512
/** The type of a channel post that names none. */
export const POSTED_TYPE = 'com.sensorium.channel.posted'

export const EVENT_EXAMPLE = {
  specversion: '1.0',
  type: 'com.example.order.created',
  source: '/orders',
  id: 'order-1-created',
  subject: 'order/1',
  data: { total: 120 },
}

/** The envelope, for documentation and types only: its reader reports invalid_event, not validation_failed. */
export const Event = Type.Object(
  {
    specversion: oneOf(['1.0']),
    type: Type.String({
      minLength: 1,
      maxLength: 255,
      examples: ['com.example.order.created'],
      description: 'Printable characters without spaces.',
    }),
    source: Type.String({ format: 'uri-reference', examples: ['/orders'] }),
    id: Type.String({
      minLength: 1,
      maxLength: MAX_EVENT_ID,
      examples: ['order-1-created'],
      description: 'The deduplication key, unique in the tenant.',
    }),
    time: Type.Optional(dateTime()),
    datacontenttype: Type.Optional(Type.String({ examples: ['application/json'] })),
    subject: Type.Optional(Type.String({ examples: ['order/1'] })),
    recipient: Type.Optional(
      Type.String({
        examples: ['agt_01hv3k8z9q4m7t2x5c6w8r0s1d'],
        description:
          'The id of an agent, or of a channel that the sender is a member of. The agent, or every other member of the channel, receives the event in addition to the recipients with a matching interest or feed.',
      }),
    ),
    replyto: Type.Optional(
      Type.String({
        examples: ['agt_01hv3k8z9q4m7t2x5c6w8r0s1d'],
        description: 'The `recipient` that a reply to this event should have. Stored unchanged.',
      }),
    ),
    correlationid: Type.Optional(
      Type.String({
        examples: ['order-1-created'],
        description:
          'In a reply: the `correlationid` of the question, or the id of the question if it has none. Stored unchanged.',
      }),
    ),
    data: Type.Optional(Type.Unknown({ description: 'Any JSON. Filters are evaluated against it.' })),
  },
  {
    $id: 'Event',
    additionalProperties: true,
    examples: [EVENT_EXAMPLE],
    description: 'A CloudEvents 1.0 envelope. Extension attributes are stored unchanged.',
  },
)
export type Event = Static<typeof Event>

export const Published = Type.Object(
  {
    event_id: Type.String({ examples: ['order-1-created'] }),
    status: oneOf(['accepted', 'duplicate']),
    recipients: Type.Optional(
      Type.Integer({ description: 'The number of deliveries that were created; only with `accepted`.' }),
    ),
  },
  { $id: 'Published' },
)

/** The result of a refused event in a batch: the error, without an error envelope of its own. */
const Refused = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ examples: ['invalid_event'] }),
      message: Type.String({ examples: ['The event is malformed'] }),
      details: jsonObject(),
      request_id: Type.String({ examples: ['req_4f1c2a9be07700000001'] }),
    }),
  },
  { $id: 'RefusedEvent' },
)

const BatchResults = Type.Object(
  { results: Type.Array(Type.Unsafe({ anyOf: [Published, Refused] })) },
  { $id: 'BatchResults', description: 'One result for each event of the batch, in the same order.' },
)

export const EventSummary = Type.Object(
  {
    id: Type.String({ examples: ['order-1-created'] }),
    type: Type.String({ examples: ['com.example.order.created'] }),
    source: Type.String({ examples: ['/orders'] }),
    subject: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: ['order/1'] }),
    time: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      examples: ['2030-01-31T12:00:00Z'],
      description: 'The `time` of the event. Null if the event has none or is larger than 16 KiB.',
    }),
    received_at: dateTime({ description: 'When the event was accepted.' }),
    sender: Type.String({
      examples: ['agt_01hv3k8z9q4m7t2x5c6w8r0s1d'],
      description:
        'The id of the agent or org-admin that published the event, or of the webhook or connector that it came through.',
    }),
    recipients: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      examples: [2],
      description: 'The number of deliveries of the event. Null if there are too many to count quickly.',
    }),
    snippet: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      examples: ['{"total":120}'],
      description:
        'The first 200 characters of the data as JSON. Null if the event has no data or is larger than 16 KiB.',
    }),
  },
  { $id: 'EventSummary', description: 'An event without its payload.' },
)
export type EventSummary = Static<typeof EventSummary>

const tag = 'Events'

export const eventOperations = {
  publishEvent: operation({
    id: 'publishEvent',
    summary: 'Publish an event',
    description:
      'Accepts CloudEvents over HTTP in all three modes: structured JSON, binary (the attributes are `ce-*` headers and the body is the data) and batch (1 to 100 events; the response is 200 `{results}` in the same order, and each event succeeds or fails independently). 202 means that the event and its deliveries are on disk. An id that was accepted before returns 200 `duplicate`.',
    tag,
    method: 'POST',
    path: '/events',
    access: { scope: 'send' },
    consumes: ['application/json', STRUCTURED_TYPE, BATCH_TYPE],
    body: Event,
    checksBody: true,
    bodyLimit: 'event',
    success: {
      202: { description: 'Accepted', schema: Published },
      200: {
        description: 'A duplicate, or the results of a batch',
        schema: Type.Unsafe({
          anyOf: [Published, BatchResults],
          examples: [{ event_id: 'order-1-created', status: 'duplicate' }],
        }),
      },
    },
  }),
  getEvent: operation({
    id: 'getEvent',
    summary: 'Get an event and its receipts',
    description:
      'Returns the event and, for each recipient, the state of its delivery and what matched. Only the publisher of the event and admins can read it.',
    tag,
    method: 'GET',
    path: '/events/{id}',
    access: { scope: 'send', or: 'admin' },
    success: {
      200: {
        description: 'The event and its receipts',
        schema: Type.Object(
          {
            event: Type.Unsafe<Event | null>({ anyOf: [Type.Ref('Event'), { type: 'null' }] }),
            deliveries: Type.Array(Receipt),
          },
          { $id: 'Trace' },
        ),
      },
    },
  }),
  explainEvent: operation({
    id: 'explainEvent',
    summary: 'Explain who would receive an event, and why',
    description:
      'Stores nothing. With `agent_id`, the response also explains why that agent would or would not receive the event.',
    tag,
    method: 'POST',
    path: '/events/explain',
    access: { scope: 'send' },
    holdsEvent: true,
    body: Type.Object(
      {
        event: jsonObject({
          examples: [
            {
              specversion: '1.0',
              type: 'com.example.order.created',
              source: '/orders',
              id: 'order-1-created',
              data: { total: 120 },
            },
          ],
        }),
        agent_id: Type.Optional(Type.String({ examples: ['agt_01hv3k8z9q4m7t2x5c6w8r0s1d'] })),
      },
      { $id: 'ExplainRequest' },
    ),
    success: {
      200: {
        description: 'The recipients',
        schema: Type.Object(
          {
            recipients: Type.Array(
              Type.Object({ agent_id: id('agt'), via: Type.Array(Matched), priority: Type.Integer({ examples: [5] }) }),
            ),
            agent: Type.Optional(
              Type.Object({
                agent_id: id('agt'),
                receives: Type.Boolean({ examples: [false] }),
                reasons: Type.Array(Reason),
              }),
            ),
          },
          { $id: 'Explanation' },
        ),
      },
    },
  }),
  sendTestEvent: operation({
    id: 'sendTestEvent',
    summary: 'Send a test event to an agent',
    description:
      'Publishes an event of type `test.dashboard` from the source `dashboard.test-event` about the agent. The agent always receives it.',
    tag: 'Agents',
    method: 'POST',
    path: '/agents/{id}/test-event',
    access: { scope: 'admin', self: 'send' },
    success: {
      202: {
        description: 'Accepted',
        schema: Type.Object(
          { event_id: Type.String({ examples: ['test-01hv3k8z9q4m7t2x5c6w8r0s1d'] }) },
          { $id: 'TestEventSent', additionalProperties: true },
        ),
      },
    },
  }),
} as const
