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
          description: 'Selects the dead letters that match every given field. An empty filter selects all of them.',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_DEAD_LETTERS_AT_ONCE,
          default: 1000,
          examples: [1000],
          description: 'With `filter`: the maximum number of dead letters. The newest are taken.',
        }),
      ),
      dry_run: Type.Optional(
        Type.Boolean({ examples: [true], description: 'Only counts the dead letters that match; nothing is changed.' }),
      ),
    },
    {
      $id: name,
      description: 'Set either `delivery_ids` or `filter`.',
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
      'The 20 largest counts of each kind. `reason` is the last error if there is one, otherwise the reason without its numbers; each can be used as the `reason` of a filter. If there are more than 20,000 dead letters, only the newest are grouped.',
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
      'Replays dead letters of the calling agent, or of the whole tenant for an org-admin. Each one goes back into the mailbox of its recipient, like a single replay. The work is done in steps: if the call is interrupted, some dead letters are replayed, and repeating the call continues with the rest.',
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
      'Discards dead letters of the calling agent, or of the whole tenant for an org-admin. The deliveries and their receipts are deleted. The work is done in steps, like a replay.',
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
    description: 'Counts the dead letters of the calling agent, or of the whole tenant for an org-admin.',
    tag,
    access,
    method: 'GET',
    path: '/delivery/dlq/summary',
    success: { 200: { description: 'The counts', schema: DeadLetterSummary } },
  }),
} as const
