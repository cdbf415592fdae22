// Why an event went to a recipient or not, and what became of each delivery.
import { Type, type Static, dateTime, id, oneOf } from './shapes.ts'

export const Matched = Type.Object(
  {
    kind: oneOf(['interest', 'feed', 'recipient', 'test_event']),
    id: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: ['int_01hv3k8z9q4m7t2x5c6w8r0s1d'] }),
    channel_id: Type.Optional(id('chn')),
  },
  {
    $id: 'Matched',
    examples: [{ kind: 'interest', id: 'int_01hv3k8z9q4m7t2x5c6w8r0s1d' }],
    description:
      'The cause of a delivery: an interest, a channel feed, the `recipient` of the event (`id` is the agent or channel that it names), or a test event sent to the agent.',
  },
)
export type Matched = Static<typeof Matched>

export const RECEIPT_STATES = ['pending', 'leased', 'acknowledged', 'dead_lettered'] as const

const nullableTime = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
  examples: ['2030-01-31T12:00:00Z'],
})

export const Receipt = Type.Object(
  {
    delivery_id: id('dlv'),
    agent_id: id('agt', { description: 'The recipient.' }),
    state: oneOf(RECEIPT_STATES),
    attempts: Type.Integer({ description: 'The number of delivery attempts.' }),
    matched: Type.Array(Matched),
    created_at: dateTime(),
    first_attempt_at: nullableTime,
    acknowledged_at: nullableTime,
    dead_lettered_at: nullableTime,
    dlq_reason: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: [null] }),
    last_error: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Why the last attempt failed, while the delivery is pending or leased.',
      examples: [null],
    }),
    next_attempt_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When a pending delivery is due again; null if it is due already.',
      examples: [null],
    }),
  },
  {
    $id: 'Receipt',
    examples: [
      {
        delivery_id: 'dlv_01hv3k8z9q4m7t2x5c6w8r0s1d',
        agent_id: 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d',
        state: 'acknowledged',
        attempts: 1,
        matched: [{ kind: 'interest', id: 'int_01hv3k8z9q4m7t2x5c6w8r0s1d' }],
        created_at: '2030-01-31T12:00:00.000Z',
        first_attempt_at: '2030-01-31T12:00:00.020Z',
        acknowledged_at: '2030-01-31T12:00:01.400Z',
        dead_lettered_at: null,
        dlq_reason: null,
        last_error: null,
        next_attempt_at: null,
      },
    ],
  },
)
export type Receipt = Static<typeof Receipt>

export const Reason = Type.Object(
  {
    kind: oneOf(['agent', 'interest', 'feed', 'recipient']),
    id: Type.String({ examples: ['int_01hv3k8z9q4m7t2x5c6w8r0s1d'] }),
    channel_id: Type.Optional(id('chn')),
    matches: Type.Boolean(),
    type_matches: Type.Optional(Type.Boolean()),
    filter: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description:
          "Absent unless it is the caller's own, or the caller may list it (`interests:read`, for a feed `channel:read`).",
      }),
    ),
    explanation: Type.String({ examples: ['the type matches com.example.order.*; the filter is false'] }),
  },
  {
    $id: 'Reason',
    examples: [
      {
        kind: 'interest',
        id: 'int_01hv3k8z9q4m7t2x5c6w8r0s1d',
        matches: false,
        type_matches: true,
        filter: 'data.total > 100',
        explanation: 'the type matches com.example.order.*; the filter is false',
      },
    ],
  },
)
export type Reason = Static<typeof Reason>
