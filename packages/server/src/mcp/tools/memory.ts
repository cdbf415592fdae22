// Memory: keep something, find it again by what it means, link it, share it, merge what says the same.
import {
  isId,
  MAX_CONTENT,
  MEMORY_SCOPES,
  MEMORY_TYPES,
  operations,
  RELATIONSHIP_TYPES,
  Type,
} from '@sensorium/contract'
import { hinted } from '../refusal.ts'
import { MemorySummary, summaryOf } from '../shapes.ts'
import { argument, idArgument, tool } from '../tool.ts'

const literals = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], description })

const memoryId = idArgument('mem', 'The id of a memory, as returned by recall')
const title = argument('Pump 7 runs hot since its rebuild', { minLength: 1, maxLength: MAX_CONTENT })
const content = argument('Above 90 degrees it is the coolant valve.', { minLength: 1, maxLength: MAX_CONTENT })
const fraction = (description: string, example = 0.8) =>
  Type.Number({ minimum: 0, maximum: 1, description, examples: [example] })
const scope = literals(MEMORY_SCOPES, 'agent: only you. team: your team. institutional: everybody in the organisation.')
const type = literals(
  MEMORY_TYPES,
  'episodic: something that happened. semantic: a fact. procedural: how to do something. entity: a person or thing. reflection: a lesson. reasoning: why something was decided.',
)

const metadata = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'Anything else to keep with the memory, as fields of your own',
})

/** What to do about a refusal, by its rule or by what was not found. */
const HINTS = {
  memory: 'ids of memories come from recall',
  not_owner: 'remember your own, and relate it to this one, with contradicts if this one is wrong',
  conflict: 'it exists already',
}
const explained = hinted(HINTS)
/** Its owner may be asked for what only it can do. */
const ASK = 'get_memory shows its owner as agent_id, whom you can ask with publish_event'
const explainedOfOwner = (orElse: string) => hinted({ ...HINTS, not_owner: `${ASK}; or ${orElse}` })

const SimilarMemory = Type.Object({
  ...MemorySummary.properties,
  score: Type.Number({ description: 'How alike the two are; 1 means that they say the same.' }),
})

export const memoryTools = [
  tool({
    name: 'remember',
    title: 'Remember something',
    description:
      'Store a fact, a lesson, a procedure or an event, so that you can find it later by its meaning. Store one thing per memory; the title says what it is about.',
    input: Type.Object({
      title,
      content,
      type: Type.Optional({ ...type, default: 'semantic' }),
      scope: Type.Optional({ ...scope, default: 'agent' }),
      team_id: Type.Optional(argument('support', { description: 'With scope team; your own team if left out' })),
      confidence: Type.Optional(fraction('How certain it is')),
      importance: Type.Optional(fraction('How much it matters')),
      source_event_id: Type.Optional(
        argument('order-17-created', { description: 'The id of the event that it was learnt from' }),
      ),
      expires_at: Type.Optional(
        argument('2030-01-01T00:00:00Z', { format: 'date-time', description: 'When the memory expires' }),
      ),
      metadata: Type.Optional(metadata),
    }),
    output: Type.Object({
      ...MemorySummary.properties,
      similar: Type.Optional(
        Type.Array(Type.Object({ id: Type.String(), score: Type.Number() }), {
          description: 'Memories that say nearly the same; merge_memories makes one of yours',
        }),
      ),
    }),
    effect: 'adds',
    async run({ type = 'semantic', scope = 'agent', ...rest }, { call }) {
      const { similar, ...memory } = await call(operations.createMemory, { body: { type, scope, ...rest } })
      return { ...summaryOf(memory), ...(similar ? { similar } : {}) }
    },
  }),
  tool({
    name: 'recall',
    title: 'Recall what you know',
    description:
      'Search your memories, and those shared with you, with a question in natural language. Returns the title and the beginning of each; get_memory returns the whole text. The nearest are returned, however far they are: a score is about the probability that a memory is relevant, and below 0.1 it probably is not. min_score leaves those out.',
    input: Type.Object({
      query: argument('why does the motor overheat?', { minLength: 1, maxLength: MAX_CONTENT }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'The most to return' })),
      scope: Type.Optional(scope),
      type: Type.Optional(type),
      min_confidence: Type.Optional(fraction('Leave out memories that are less certain than this')),
      min_score: Type.Optional(
        fraction('Leave out memories with a lower score; 0.1 leaves out most that have little to do with it', 0.1),
      ),
    }),
    output: Type.Object({ memories: Type.Array(MemorySummary) }),
    effect: 'reads',
    async run({ limit = 5, ...rest }, { call }) {
      const { results } = await call(operations.searchMemories, { body: { limit, ...rest } })
      return { memories: results.map(({ memory, score }) => summaryOf(memory, score)) }
    },
  }),
  tool({
    name: 'get_memory',
    title: 'Get a memory',
    description: 'Get the whole text of a memory, its metadata (unless that is over 64 kB) and where it came from.',
    input: Type.Object({ memory_id: memoryId }),
    output: Type.Object({ memory: Type.Unknown() }),
    effect: 'reads',
    run: async ({ memory_id }, { call }) => ({
      memory: await call(operations.getMemory, { params: { id: memory_id } }).catch(explained),
    }),
  }),
  tool({
    name: 'update_memory',
    title: 'Update a memory',
    description:
      'Change the text of one of your memories, or how certain or important it is. Fields that you leave out do not change.',
    input: Type.Object({
      memory_id: memoryId,
      title: Type.Optional(title),
      content: Type.Optional(content),
      confidence: Type.Optional(fraction('How certain it is')),
      importance: Type.Optional(fraction('How much it matters')),
      metadata: Type.Optional(metadata),
    }),
    output: MemorySummary,
    effect: 'sets',
    run: async ({ memory_id, ...body }, { call }) =>
      summaryOf(await call(operations.updateMemory, { params: { id: memory_id }, body }).catch(explained)),
  }),
  tool({
    name: 'forget',
    title: 'Forget a memory',
    description: 'Delete one of your memories. Nobody can find it any more.',
    input: Type.Object({ memory_id: memoryId }),
    output: Type.Object({ forgotten: Type.Boolean() }),
    effect: 'removes',
    async run({ memory_id }, { call }) {
      const orElse = explainedOfOwner('if it is wrong, remember what is right and relate that to it with contradicts')
      await call(operations.deleteMemory, { params: { id: memory_id } }).catch(orElse)
      return { forgotten: true }
    },
  }),
  tool({
    name: 'relate',
    title: 'Relate two memories',
    description: 'Create a relationship from one memory to another, so that explore_memory finds one from the other.',
    input: Type.Object({
      memory_id: memoryId,
      target_memory_id: memoryId,
      relationship_type: literals(RELATIONSHIP_TYPES, 'How the first memory relates to the second'),
      strength: Type.Optional(fraction('How strong the relationship is')),
    }),
    output: Type.Object({ relationship_id: Type.String() }),
    effect: 'adds',
    async run({ memory_id, ...body }, { call }) {
      const params = { id: memory_id }
      return { relationship_id: (await call(operations.createRelationship, { params, body }).catch(explained)).id }
    },
  }),
  tool({
    name: 'explore_memory',
    title: 'Explore around a memory',
    description: 'Follow the relationships of a memory to other memories, nearest and strongest first.',
    input: Type.Object({
      memory_id: memoryId,
      depth: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 3, default: 1, description: 'How many relationships to follow in a row' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10, description: 'The most to return' })),
    }),
    output: Type.Object({ related: Type.Array(Type.Unknown()), found: Type.Integer() }),
    effect: 'reads',
    async run({ memory_id, depth = 1, limit = 10 }, { call }) {
      const query = { depth, direction: 'both' }
      const params = { id: memory_id }
      const { relationships, count } = await call(operations.listRelationships, { params, query }).catch(explained)
      const related = relationships.slice(0, limit).map(({ relationship, memory, depth, cumulative_strength }) => ({
        relationship_type: relationship.relationship_type,
        depth,
        strength: cumulative_strength,
        memory: summaryOf(memory),
      }))
      return { related, found: count }
    },
  }),
  tool({
    name: 'promote_memory',
    title: 'Share a memory more widely',
    description: 'Let your team, or the whole organisation, find one of your memories. This cannot be undone.',
    input: Type.Object({
      memory_id: memoryId,
      scope: literals(['team', 'institutional'], 'Who can find it from now on'),
      team_id: Type.Optional(argument('support', { description: 'With scope team; your own team if left out' })),
    }),
    output: MemorySummary,
    effect: 'sets',
    async run({ memory_id, scope, team_id }, { id, call }) {
      const needsOwn = scope === 'team' && team_id === undefined && isId('agent', id)
      const team = needsOwn ? (await call(operations.getAgent, { params: { id } })).team_id : team_id
      const body = { scope, ...(team ? { team_id: team } : {}) }
      const orElse = explainedOfOwner('remember what it says with the wider scope yourself')
      return summaryOf(await call(operations.promoteMemory, { params: { id: memory_id }, body }).catch(orElse))
    },
  }),
  tool({
    name: 'find_similar_memories',
    title: 'Find similar memories',
    description:
      'Find memories that say nearly the same as one that you name, most similar first, so that merge_memories can make one of them. From a score of about 0.92 two probably say the same; read both with get_memory before you merge them.',
    input: Type.Object({
      memory_id: memoryId,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'The most to return' })),
    }),
    output: Type.Object({ memories: Type.Array(SimilarMemory) }),
    effect: 'reads',
    async run({ memory_id, limit = 5 }, { call }) {
      const input = { params: { id: memory_id }, query: { limit } }
      const { results } = await call(operations.findSimilarMemories, input).catch(explained)
      return { memories: results.map(({ memory, score }) => summaryOf(memory, score)) }
    },
  }),
  tool({
    name: 'merge_memories',
    title: 'Merge memories into one',
    description:
      'Merge memories of yours that say the same into one of them. That one keeps its own text and gets the relationships of the others; the others are deleted. If they say something that it does not, add that with update_memory first.',
    input: Type.Object({
      memory_id: idArgument('mem', 'The id of the memory that stays'),
      memory_ids: Type.Array(idArgument('mem'), {
        minItems: 1,
        maxItems: 20,
        description: 'The ids of the memories that are merged into it and deleted',
      }),
    }),
    output: MemorySummary,
    effect: 'removes',
    async run({ memory_id, memory_ids }, { call }) {
      const hints = {
        ...HINTS,
        not_owner: 'leave out what is not yours; relate links it to yours instead',
        merge_mismatch: 'promote_memory gives one of yours a wider scope, or the team of the others',
      }
      const input = { params: { id: memory_id }, body: { memory_ids } }
      return summaryOf(await call(operations.mergeMemories, input).catch(hinted(hints)))
    },
  }),
]
