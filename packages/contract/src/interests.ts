// Interests: the events that an agent wants to receive.
import { operation } from './operation.ts'
import { Type, type Static, dateTime, filledText, id, nullableText, oneOf } from './shapes.ts'

export const ENRICHMENT_DEPTHS = ['none', 'light', 'full'] as const
export const MAX_FILTER = 4096

/** Schema of a type glob: as long as a type may be, with room for classes and escapes. */
export const globText = () =>
  filledText(512, {
    expected: 'a non-empty glob of at most 512 characters',
    examples: ['com.example.order.*'],
    description:
      '`*` matches any run of characters, `?` one character, `[a-z]` a character class; `\\` escapes. Case-sensitive; the whole type must match.',
  })

export const filterText = () =>
  nullableText(MAX_FILTER, {
    expected: `a CEL expression of at most ${MAX_FILTER} characters, or null`,
    examples: ['data.total > 100'],
    description:
      'A CEL predicate over the event: `data` is the data of the event, `event` is the envelope, and a bare name is a field of the data.',
  })

export const Interest = Type.Object(
  {
    id: id('int'),
    tenant_id: id('ten'),
    agent_id: id('agt'),
    event_type: Type.String({ examples: ['com.example.order.*'] }),
    filter_expression: filterText(),
    priority: Type.Integer({ minimum: 0 }),
    enrichment_depth: oneOf(ENRICHMENT_DEPTHS),
    active: Type.Boolean(),
    created_at: dateTime(),
    updated_at: dateTime(),
  },
  { $id: 'Interest' },
)
export type Interest = Static<typeof Interest>

export const InterestCreate = Type.Object(
  {
    event_type: globText(),
    filter_expression: Type.Optional(filterText()),
    // A JSON number above this is no longer an exact integer.
    priority: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [0] }),
    enrichment_depth: oneOf(ENRICHMENT_DEPTHS),
    backfill: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        examples: [0],
        description: 'Also delivers up to this many of the newest matching events, oldest first, before the response.',
      }),
    ),
  },
  { $id: 'InterestCreate' },
)

const tag = 'Interests'

export const interestOperations = {
  listInterests: operation({
    id: 'listInterests',
    summary: 'List the interests of an agent, newest first',
    tag,
    method: 'GET',
    path: '/agents/{id}/interests',
    access: { scope: 'interests:read' },
    success: {
      200: {
        description: 'The interests',
        schema: Type.Object({ interests: Type.Array(Interest) }, { $id: 'InterestList' }),
      },
    },
  }),
  createInterest: operation({
    id: 'createInterest',
    audit: ['event_type', 'filter_expression', 'priority', 'enrichment_depth', 'backfill'],
    summary: 'Create an interest',
    description: 'An agent can only create interests for itself.',
    tag,
    method: 'POST',
    path: '/agents/{id}/interests',
    access: { scope: 'interests:write' },
    body: InterestCreate,
    success: { 201: { description: 'The interest', schema: Interest } },
  }),
  deleteInterest: operation({
    id: 'deleteInterest',
    audit: [],
    summary: 'Delete an interest',
    tag,
    method: 'DELETE',
    path: '/agents/{id}/interests/{interest_id}',
    access: { scope: 'interests:write' },
    success: { 204: { description: 'Deleted' } },
  }),
} as const
