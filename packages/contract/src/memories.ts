// Memories: agents store them, search them and share them more widely.
import { operation } from './operation.ts'
import { SearchSignals } from './search-signals.ts'
import {
  Type,
  type Static,
  dateTime,
  externalId,
  filledText,
  fraction,
  id,
  jsonObject,
  nullableDateTime,
  nullableText,
  nullableUri,
  oneOf,
  page,
  text,
} from './shapes.ts'

export const MEMORY_TYPES = ['episodic', 'semantic', 'procedural', 'entity', 'reflection', 'reasoning'] as const
export const MEMORY_SCOPES = ['agent', 'team', 'institutional'] as const
export const MEMORY_STATUSES = ['active', 'deleted', 'expired'] as const
export const MAX_CONTENT = 32_768
export const DEFAULT_CONFIDENCE = 1
export const DEFAULT_IMPORTANCE = 0.5

export type MemoryType = (typeof MEMORY_TYPES)[number]
export type MemoryScope = (typeof MEMORY_SCOPES)[number]
export type MemoryStatus = (typeof MEMORY_STATUSES)[number]

// As long as content: the interface names no limit for a title, so nobody should run into one by accident.
const title = () => filledText(MAX_CONTENT, { examples: ['Deploys on Friday fail'] })
// White space alone is valid content: the agent chose to store it.
const content = () =>
  text(MAX_CONTENT, {
    minLength: 1,
    expected: `a string of 1 to ${MAX_CONTENT} characters`,
    examples: ['Three of the last four Friday deploys were rolled back.'],
  })
const memoryScope = () =>
  oneOf(MEMORY_SCOPES, {
    description: '`agent`: only the owner sees it. `team`: the agents of the team. `institutional`: the whole tenant.',
  })
const teamId = (description: string) =>
  nullableText(255, {
    minLength: 1,
    expected: 'a non-empty string of at most 255 characters, or null',
    examples: ['team-blue'],
    description,
  })
const expiresAt = () => nullableDateTime({ expected: 'an ISO 8601 date-time with a time zone, in the future, or null' })

const fields = {
  project_id: nullableText(255, { examples: ['project-7'] }),
  metadata: jsonObject(),
  source_type: nullableText(255, { examples: ['ticket'] }),
  source_id: nullableText(1024, { examples: ['T-1001'] }),
  source_url: nullableUri(),
  source_event_id: nullableText(512, {
    examples: ['order-1-created'],
    description: 'The id of the event that the memory derives from.',
  }),
  external_id: externalId('The id in another system of yours, unique among the live memories of the owner.'),
  freshness_date: nullableDateTime({ description: 'When the content was last known to be true.' }),
}

export const Memory = Type.Object(
  {
    id: id('mem'),
    tenant_id: id('ten'),
    agent_id: id('agt', { description: 'The id of the owner.' }),
    team_id: nullableText(255, { examples: [null], description: 'The team, for scope `team`; otherwise null.' }),
    project_id: fields.project_id,
    type: oneOf(MEMORY_TYPES),
    scope: memoryScope(),
    status: oneOf(MEMORY_STATUSES),
    title: Type.String({ examples: ['Deploys on Friday fail'] }),
    content: Type.String({ examples: ['Three of the last four Friday deploys were rolled back.'] }),
    confidence: fraction({ description: 'How certain the memory is.' }),
    importance: fraction({ description: 'How much the memory matters, independent of its confidence.' }),
    metadata: fields.metadata,
    source_type: fields.source_type,
    source_id: fields.source_id,
    source_url: fields.source_url,
    source_event_id: fields.source_event_id,
    external_id: Type.Optional(fields.external_id),
    freshness_date: fields.freshness_date,
    expires_at: nullableDateTime(),
    created_at: dateTime(),
    updated_at: dateTime(),
    accessed_at: dateTime({ description: 'When the memory was last fetched or found by a semantic search.' }),
  },
  { $id: 'Memory' },
)
export type Memory = Static<typeof Memory>

export const CreatedMemory = Type.Object(
  {
    ...Memory.properties,
    similar: Type.Optional(
      Type.Array(Type.Object({ id: id('mem'), score: Type.Number({ minimum: 0, maximum: 1, examples: [0.97] }) }), {
        description:
          'Memories that say nearly the same (similarity above 0.92), most similar first, so that you can merge them. ' +
          'Only present if there are any and they were found quickly.',
      }),
    ),
  },
  { $id: 'CreatedMemory' },
)
export type CreatedMemory = Static<typeof CreatedMemory>

export const MemoryCreate = Type.Object(
  {
    type: oneOf(MEMORY_TYPES),
    scope: memoryScope(),
    title: title(),
    content: content(),
    team_id: Type.Optional(teamId('For scope `team`; defaults to the team of the token. Ignored with other scopes.')),
    project_id: Type.Optional(fields.project_id),
    confidence: Type.Optional(fraction({ default: DEFAULT_CONFIDENCE })),
    importance: Type.Optional(fraction({ default: DEFAULT_IMPORTANCE })),
    metadata: Type.Optional(fields.metadata),
    source_type: Type.Optional(fields.source_type),
    source_id: Type.Optional(fields.source_id),
    source_url: Type.Optional(fields.source_url),
    source_event_id: Type.Optional(fields.source_event_id),
    external_id: Type.Optional(fields.external_id),
    freshness_date: Type.Optional(fields.freshness_date),
    expires_at: Type.Optional(expiresAt()),
  },
  { $id: 'MemoryCreate' },
)

export const MemoryUpdate = Type.Object(
  {
    title: Type.Optional(title()),
    content: Type.Optional(content()),
    confidence: Type.Optional(fraction()),
    importance: Type.Optional(fraction()),
    metadata: Type.Optional(jsonObject({ description: 'Replaces the existing metadata.' })),
    expires_at: Type.Optional(expiresAt()),
    freshness_date: Type.Optional(fields.freshness_date),
  },
  { $id: 'MemoryUpdate' },
)

export const MemoryPromote = Type.Object(
  {
    scope: oneOf(['team', 'institutional'] as const),
    team_id: Type.Optional(teamId('Required for `team`, refused for `institutional`.')),
  },
  { $id: 'MemoryPromote' },
)

const scalar = () =>
  Type.Unsafe<string | number | boolean | null>({
    type: ['string', 'number', 'boolean', 'null'],
    expected: 'a text, a number, a boolean or null',
    examples: ['blue'],
  })

export const MemorySearch = Type.Object(
  {
    query: filledText(MAX_CONTENT, {
      examples: ['why do deploys fail at the end of the week?'],
      description: 'A query in natural language.',
    }),
    scope: Type.Optional(memoryScope()),
    type: Type.Optional(oneOf(MEMORY_TYPES)),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10, examples: [10] })),
    min_confidence: Type.Optional(fraction()),
    min_score: Type.Optional(
      fraction({
        examples: [0.1],
        description:
          'Results with a lower score are left out. A score is roughly the probability that a person would call the result relevant.',
      }),
    ),
    project_id: Type.Optional(text(255, { examples: ['project-7'] })),
    source_event_id: Type.Optional(text(512, { examples: ['order-1-created'] })),
    created_after: Type.Optional(dateTime()),
    created_before: Type.Optional(dateTime()),
    metadata: Type.Optional(
      Type.Record(scalar(), {
        maxProperties: 16,
        expected: 'an object of at most 16 texts, numbers, booleans or nulls',
        examples: [{ team: 'blue' }],
        description: 'Finds only memories whose metadata has these members with exactly these values.',
      }),
    ),
    explain: Type.Optional(
      Type.Boolean({ default: false, examples: [true], description: 'Adds `signals` to each result.' }),
    ),
  },
  { $id: 'MemorySearch' },
)

export const SearchResult = Type.Object(
  {
    memory: Memory,
    score: Type.Number({ minimum: 0, maximum: 1, examples: [0.74] }),
    signals: Type.Optional(SearchSignals),
  },
  { $id: 'SearchResult' },
)
export type SearchResult = Static<typeof SearchResult>

const tag = 'Memories'
const reading = { scope: 'memory:read' } as const
const writing = { scope: 'memory:write' } as const

export const memoryOperations = {
  listMemories: operation({
    id: 'listMemories',
    summary: 'List memories, newest first',
    description: 'Lists the memories that the caller can see. An org-admin sees all memories of the tenant.',
    tag,
    method: 'GET',
    path: '/memories',
    access: reading,
    query: Type.Object({
      ...page,
      type: Type.Optional(oneOf(MEMORY_TYPES)),
      scope: Type.Optional(oneOf(MEMORY_SCOPES)),
      project_id: Type.Optional(text(255, { examples: ['project-7'] })),
      status: Type.Optional(
        oneOf(MEMORY_STATUSES, {
          default: 'active',
          description: 'Only the owner and org-admins can list `deleted` and `expired` memories.',
        }),
      ),
      created_after: Type.Optional(dateTime()),
      created_before: Type.Optional(dateTime()),
      search: Type.Optional(
        text(MAX_CONTENT, {
          examples: ['deploy'],
          description: 'A literal substring of the title or the content, case-insensitive. Not a semantic search.',
        }),
      ),
    }),
    success: {
      200: {
        description: 'A page of memories',
        schema: Type.Object({ memories: Type.Array(Memory), total: Type.Integer() }, { $id: 'MemoryList' }),
      },
    },
  }),
  createMemory: operation({
    id: 'createMemory',
    summary: 'Create a memory',
    description: 'The caller becomes the owner of the memory.',
    tag,
    method: 'POST',
    path: '/memories',
    access: writing,
    bodyLimit: 'memory',
    body: MemoryCreate,
    asText: ['metadata'],
    success: { 201: { description: 'The memory', schema: CreatedMemory } },
  }),
  searchMemories: operation({
    id: 'searchMemories',
    summary: 'Search memories by meaning',
    description:
      'The score combines meaning and words with confidence, recency and importance. Results are ordered by score, regardless of scope. ' +
      '`total` is the number of results in the response.',
    tag,
    method: 'POST',
    path: '/memories/search',
    access: reading,
    body: MemorySearch,
    success: {
      200: {
        description: 'The best matches, best first',
        schema: Type.Object({ results: Type.Array(SearchResult), total: Type.Integer() }, { $id: 'SearchResults' }),
      },
    },
  }),
  getMemory: operation({
    id: 'getMemory',
    summary: 'Get a memory',
    description: 'Updates `accessed_at`.',
    tag,
    method: 'GET',
    path: '/memories/{id}',
    access: reading,
    success: { 200: { description: 'The memory', schema: Memory } },
  }),
  updateMemory: operation({
    id: 'updateMemory',
    summary: 'Update a memory',
    description: 'Only for the owner and org-admins. Type and scope cannot be changed; `promote` widens the scope.',
    tag,
    method: 'PATCH',
    path: '/memories/{id}',
    access: writing,
    body: MemoryUpdate,
    asText: ['metadata'],
    success: { 200: { description: 'The memory', schema: Memory } },
  }),
  deleteMemory: operation({
    id: 'deleteMemory',
    summary: 'Delete a memory',
    description:
      'Only the owner and org-admins can delete a memory. A deleted memory appears in no response, except in a list with status `deleted`. ' +
      'With `erase`, an org-admin removes the memory from the store, even if it was deleted or has expired.',
    tag,
    method: 'DELETE',
    path: '/memories/{id}',
    access: writing,
    query: Type.Object({
      erase: Type.Optional(
        Type.Boolean({ default: false, examples: [true], description: 'Erases the memory. Only for org-admins.' }),
      ),
    }),
    success: { 204: { description: 'Deleted' } },
  }),
  promoteMemory: operation({
    id: 'promoteMemory',
    summary: 'Promote a memory to a wider scope',
    description: 'Only for the owner and org-admins. A scope can only widen: `agent` to `team` to `institutional`.',
    tag,
    method: 'POST',
    path: '/memories/{id}/promote',
    access: writing,
    body: MemoryPromote,
    success: { 200: { description: 'The memory', schema: Memory } },
  }),
} as const
