// The mailbox: polling, settling, dead letters, and the state of a queue.
import { operation } from './operation.ts'
import { DeliveredEvent } from './delivered-event.ts'
import { Event } from './events.ts'
import { Type, type Static, clampedLimit, dateTime, eventTypeGlob, id, oneOf, page, text } from './shapes.ts'

export const MAX_POLL = 100

const nullableTime = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
  examples: ['2030-01-31T12:00:00Z'],
})

export const Delivery = Type.Object(
  {
    id: id('dlv'),
    event_id: Type.String({ examples: ['order-1-created'] }),
    payload: Type.Unsafe<DeliveredEvent>(DeliveredEvent),
    attempt_count: Type.Integer({ minimum: 1 }),
    created_at: dateTime(),
  },
  { $id: 'Delivery' },
)
export type Delivery = Static<typeof Delivery>

export const DeadLetter = Type.Object(
  {
    id: id('dlv'),
    event_id: Type.String({ examples: ['order-1-created'] }),
    agent_id: id('agt'),
    attempt_count: Type.Integer(),
    dlq_reason: Type.String({ examples: ['the ledger is closed'] }),
    payload: Type.Unsafe<Event & Record<string, unknown>>(Event),
    created_at: dateTime(),
    dead_lettered_at: dateTime(),
  },
  { $id: 'DeadLetter' },
)
export type DeadLetter = Static<typeof DeadLetter>

/** The fields by which dead letters are filtered. */
export const deadLetterFilter = {
  event_type: Type.Optional(eventTypeGlob()),
  agent_id: Type.Optional(
    text(255, {
      minLength: 1,
      examples: ['agt_01hv3k8z9q4m7t2x5c6w8r0s1d'],
      description: 'The id of the recipient. An agent can only find its own dead letters.',
    }),
  ),
  reason: Type.Optional(
    text(1000, {
      minLength: 1,
      examples: ['timed out'],
      description: 'A substring of `dlq_reason`, case-insensitive.',
    }),
  ),
  since: Type.Optional(dateTime({ description: 'Dead-lettered at or after this time.' })),
  until: Type.Optional(dateTime({ description: 'Dead-lettered at or before this time.' })),
}

const RecentEvent = Type.Object(
  {
    event_id: Type.String({ examples: ['order-1-created'] }),
    delivery_id: id('dlv'),
    type: Type.String({ examples: ['com.example.order.created'] }),
    source: Type.String({ examples: ['/orders'] }),
    subject: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: ['order/1'] }),
    time: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: ['2030-01-31T12:00:00Z'] }),
    data: Type.Optional(Type.Unknown({ examples: [{ total: 120 }] })),
    acknowledged_at: dateTime(),
  },
  { $id: 'RecentEvent' },
)

const PushState = Type.Object(
  {
    state: oneOf(['closed', 'open', 'half_open'], {
      description:
        'The state of the circuit breaker. `open`: nothing is sent to the endpoint for a while. `half_open`: one request is tried.',
    }),
    consecutive_failures: Type.Integer(),
    last_status: Type.Unsafe<number | null>({ type: ['integer', 'null'], examples: [200] }),
    last_error: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: [null] }),
    last_success_at: nullableTime,
    latency_ms: Type.Unsafe<number | null>({
      type: ['number', 'null'],
      description: 'The moving average of the response time.',
      examples: [42.5],
    }),
  },
  { $id: 'PushState', description: 'How the endpoint of a `push` agent has been responding, as known to this node.' },
)

const deliveryIds = Type.Array(Type.String({ maxLength: 255, examples: ['dlv_01hv3k8z9q4m7t2x5c6w8r0s1d'] }), {
  minItems: 1,
  maxItems: 100,
  expected: 'an array of 1 to 100 delivery ids',
  examples: [['dlv_01hv3k8z9q4m7t2x5c6w8r0s1d']],
})

const tag = 'Delivery'
const access = { scope: 'receive' } as const

export const deliveryOperations = {
  pollDeliveries: operation({
    id: 'pollDeliveries',
    summary: 'Poll the mailbox',
    description:
      'Returns the deliveries that are due, highest priority first, then oldest. Each delivery is leased for the visibility timeout: acknowledge it before the lease ends.',
    tag,
    access,
    method: 'GET',
    path: '/delivery/poll',
    query: Type.Object({
      limit: clampedLimit(MAX_POLL, 10),
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 20,
          default: 0,
          examples: [10],
          description: 'How many seconds to wait for a delivery to become due.',
        }),
      ),
    }),
    success: {
      200: {
        description: 'Leased deliveries',
        schema: Type.Object({ deliveries: Type.Array(Delivery), count: Type.Integer() }, { $id: 'DeliveryList' }),
      },
    },
  }),
  ackDeliveries: operation({
    id: 'ackDeliveries',
    summary: 'Acknowledge deliveries',
    tag,
    access,
    method: 'POST',
    path: '/delivery/ack',
    body: Type.Object({ delivery_ids: deliveryIds }, { $id: 'AckRequest' }),
    success: {
      200: {
        description: 'The number of deliveries that this call acknowledged',
        schema: Type.Object({ acknowledged: Type.Integer() }, { $id: 'Acknowledged' }),
      },
    },
  }),
  nackDeliveries: operation({
    id: 'nackDeliveries',
    summary: 'Give deliveries back',
    description:
      'The deliveries are due again at once or after `retry_after_seconds`, or they are dead-lettered with your reason. A nack counts as an attempt; on the last attempt it dead-letters the delivery.',
    tag,
    access,
    method: 'POST',
    path: '/delivery/nack',
    body: Type.Object(
      {
        delivery_ids: deliveryIds,
        retry_after_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400, examples: [30] })),
        reason: Type.Optional(text(1000, { examples: ['the ledger is closed'] })),
        dead_letter: Type.Optional(Type.Boolean({ examples: [false] })),
      },
      { $id: 'NackRequest' },
    ),
    success: {
      200: {
        description: 'The number of deliveries that were given back',
        schema: Type.Object({ nacked: Type.Integer() }, { $id: 'GivenBack' }),
      },
    },
  }),
  extendDeliveries: operation({
    id: 'extendDeliveries',
    summary: 'Extend leases',
    description:
      'For a handler that needs more time. Leases that the agent still holds end `seconds` from now. The extended lease of a delivery that came over a stream outlives the stream.',
    tag,
    access,
    method: 'POST',
    path: '/delivery/extend',
    body: Type.Object(
      { delivery_ids: deliveryIds, seconds: Type.Integer({ minimum: 1, maximum: 3600, examples: [120] }) },
      { $id: 'ExtendRequest' },
    ),
    success: {
      200: {
        description: 'The number of leases that were extended',
        schema: Type.Object({ extended: Type.Integer() }, { $id: 'Extended' }),
      },
    },
  }),
  listDeadLetters: operation({
    id: 'listDeadLetters',
    summary: 'List dead letters',
    description:
      'Lists the dead letters of the calling agent, or of the whole tenant for an org-admin, newest first. With a pattern or a reason, only the newest 20,000 are searched.',
    tag,
    access,
    method: 'GET',
    path: '/delivery/dlq',
    query: Type.Object({ ...page, ...deadLetterFilter }),
    success: {
      200: {
        description: 'A page of dead letters',
        schema: Type.Object({ dlq_items: Type.Array(DeadLetter), total: Type.Integer() }, { $id: 'DeadLetterList' }),
      },
    },
  }),
  replayDeadLetter: operation({
    id: 'replayDeadLetter',
    audit: [],
    summary: 'Replay a dead letter',
    description:
      'Puts the delivery back into the mailbox of its recipient, due at once, starting with attempt 1, with the priority and enrichment that apply now.',
    tag,
    access,
    method: 'POST',
    path: '/delivery/dlq/{id}/replay',
    success: {
      200: {
        description: 'Replayed',
        schema: Type.Object({ status: Type.Literal('replayed'), delivery_id: id('dlv') }, { $id: 'Replayed' }),
      },
    },
  }),
  listRecentEvents: operation({
    id: 'listRecentEvents',
    summary: 'List the events that an agent acknowledged most recently',
    tag: 'Agents',
    method: 'GET',
    path: '/agents/{id}/events',
    access: { scope: 'admin', self: 'receive' },
    query: Type.Object({ limit: clampedLimit(100, 5) }),
    success: {
      200: {
        description: 'The events, most recently acknowledged first',
        schema: Type.Object({ events: Type.Array(RecentEvent) }, { $id: 'RecentEventList' }),
      },
    },
  }),
  getQueue: operation({
    id: 'getQueue',
    summary: 'Get the queue health of an agent',
    tag: 'Agents',
    method: 'GET',
    path: '/agents/{id}/queue',
    access: { scope: 'admin', self: 'receive' },
    success: {
      200: {
        description: 'Queue health',
        schema: Type.Object(
          {
            pending: Type.Integer({ description: 'Deliveries that wait to be delivered.' }),
            leased: Type.Integer(),
            dead_lettered: Type.Integer(),
            oldest_pending_at: nullableTime,
            last_poll_at: nullableTime,
            push: Type.Optional(PushState),
          },
          { $id: 'Queue' },
        ),
      },
    },
  }),
} as const
