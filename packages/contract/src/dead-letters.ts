// Dead letters in bulk: replaying, discarding and counting them.
import { deadLetterFilter } from './deliveries.ts'
import { operation } from './operation.ts'
import { Type, type Static, id } from './shapes.ts'

export const MAX_DEAD_LETTERS_AT_ONCE = 10_000

const chosen = (name: string) =>
  Type.Object(
    {
      delivery_ids: Type.Optional(
        Type.Array(Type.String({ maxLength: 255, examples: ['dlv_01hv3k8z9q4m7t2x5c6w8r0s1d'] }), {
          minItems: 1,
          maxItems: 1000,
          expected: 'an array of 1 to 1000 delivery ids',
          examples: [['dlv_01hv3k8z9q4m7t2x5c6w8r0s1d']],
        }),
      ),
      filter: Type.Optional(
        Type.Object(deadLetterFilter, {
          $id: 'DeadLetterFilter',
          examples: [{ event_type: 'com.example.*', reason: 'timed out' }],
          description: 'What all of them have in common; an empty one is all of them.',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_DEAD_LETTERS_AT_ONCE,
          default: 1000,
          examples: [1000],
          description: 'With `filter`: how many at most, the newest.',
        }),
      ),
      dry_run: Type.Optional(
        Type.Boolean({ examples: [true], description: 'Counts what would be done and does nothing.' }),
      ),
    },
    {
      $id: name,
      description: 'Either `delivery_ids` or `filter`.',
      examples: [{ filter: { reason: 'timed out' }, limit: 1000, dry_run: true }],
    },
  )

export const DeadLetterChoice = chosen('DeadLetterChoice')
export type DeadLetterChoice = Static<typeof DeadLetterChoice>

const counted = <N extends string>(name: N, example: string) =>
  Type.Array(
    Type.Object({ [name]: Type.String({ examples: [example] }), count: Type.Integer({ examples: [3] }) } as {
      [K in N]: ReturnType<typeof Type.String>
    } & { count: ReturnType<typeof Type.Integer> }),
    { maxItems: 20 },
  )

export const DeadLetterSummary = Type.Object(
  {
    total: Type.Integer({ examples: [3] }),
    by_reason: counted('reason', 'timed out'),
    by_event_type: counted('event_type', 'com.example.order.created'),
    by_agent: Type.Array(Type.Object({ agent_id: id('agt'), count: Type.Integer({ examples: [3] }) }), {
      maxItems: 20,
    }),
  },
  {
    $id: 'DeadLetterSummary',
    description:
      'The 20 largest of each. `reason` is the last error, or else the reason without its numbers: each works as the `reason` of a filter. Of more than 20,000 dead letters the newest are grouped.',
  },
)
export type DeadLetterSummary = Static<typeof DeadLetterSummary>

const tag = 'Delivery'
const access = { scope: 'receive' } as const

export const deadLetterOperations = {
  replayDeadLetters: operation({
    id: 'replayDeadLetters',
    audit: ['delivery_ids', 'filter', 'limit'],
    summary: 'Replay many dead letters',
    description:
      'Those of the calling agent; of the whole tenant for an org-admin. Each goes back into the mailbox of its recipient as a single replay does. Done in steps: where the call is cut off, some are replayed, and the same call goes on with the rest.',
    tag,
    access,
    method: 'POST',
    path: '/delivery/dlq/replay',
    body: DeadLetterChoice,
    success: {
      200: {
        description: 'How many matched, and how many were replayed',
        schema: Type.Object(
          { matched: Type.Integer({ examples: [3] }), replayed: Type.Integer({ examples: [3] }) },
          { $id: 'DeadLettersReplayed' },
        ),
      },
    },
  }),
  discardDeadLetters: operation({
    id: 'discardDeadLetters',
    audit: ['delivery_ids', 'filter', 'limit'],
    summary: 'Discard many dead letters',
    description:
      'Those of the calling agent; of the whole tenant for an org-admin. They are deleted, and so are their receipts. Done in steps like a replay.',
    tag,
    access,
    method: 'POST',
    path: '/delivery/dlq/discard',
    body: DeadLetterChoice,
    success: {
      200: {
        description: 'How many matched, and how many were discarded',
        schema: Type.Object(
          { matched: Type.Integer({ examples: [3] }), discarded: Type.Integer({ examples: [3] }) },
          { $id: 'DeadLettersDiscarded' },
        ),
      },
    },
  }),
  getDeadLetterSummary: operation({
    id: 'getDeadLetterSummary',
    summary: 'Count dead letters by reason, event type and agent',
    description: 'Those of the calling agent; of the whole tenant for an org-admin.',
    tag,
    access,
    method: 'GET',
    path: '/delivery/dlq/summary',
    success: { 200: { description: 'The counts', schema: DeadLetterSummary } },
  }),
} as const
