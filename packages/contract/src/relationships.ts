// Relationships: links between memories, and their traversal.
import { Memory } from './memories.ts'
import { operation } from './operation.ts'
import { Type, type Static, dateTime, filledText, fraction, id, oneOf } from './shapes.ts'

export const RELATIONSHIP_TYPES = [
  'caused_by',
  'related_to',
  'contradicts',
  'supports',
  'derived_from',
  'part_of',
] as const
export const DIRECTIONS = ['out', 'in', 'both'] as const
export const DEFAULT_STRENGTH = 1
export const MAX_TRAVERSAL_DEPTH = 3
/** The most results that a traversal returns. */
export const MAX_TRAVERSED = 1000

export type RelationshipType = (typeof RELATIONSHIP_TYPES)[number]
export type Direction = (typeof DIRECTIONS)[number]

const strength = () => fraction({ examples: [0.9] })
const nullableObject = () =>
  Type.Unsafe<Record<string, unknown> | null>({
    type: ['object', 'null'],
    examples: [{ key: 'value' }],
    expected: 'an object or null',
  })

export const Relationship = Type.Object(
  {
    id: id('rel'),
    tenant_id: id('ten'),
    source_memory_id: id('mem'),
    target_memory_id: id('mem'),
    relationship_type: oneOf(RELATIONSHIP_TYPES),
    strength: strength(),
    metadata: nullableObject(),
    created_at: dateTime(),
  },
  { $id: 'Relationship' },
)
export type Relationship = Static<typeof Relationship>

export const RelationshipCreate = Type.Object(
  {
    target_memory_id: filledText(255, { expected: 'the id of a memory', examples: ['mem_01hv3k8z9q4m7t2x5c6w8r0s1d'] }),
    relationship_type: oneOf(RELATIONSHIP_TYPES),
    strength: Type.Optional(fraction({ default: DEFAULT_STRENGTH })),
    metadata: Type.Optional(nullableObject()),
  },
  { $id: 'RelationshipCreate' },
)

export const RelatedMemory = Type.Object(
  {
    relationship: Relationship,
    memory: Memory,
    depth: Type.Integer({ minimum: 1, maximum: MAX_TRAVERSAL_DEPTH }),
    cumulative_strength: fraction({ description: 'The product of the strengths along the path.' }),
  },
  {
    $id: 'RelatedMemory',
    description: 'A memory reached by a traversal, with the last relationship on the path to it.',
  },
)
export type RelatedMemory = Static<typeof RelatedMemory>

const tag = 'Memories'
const reading = { scope: 'memory:read' } as const
const writing = { scope: 'memory:write' } as const

export const relationshipOperations = {
  createRelationship: operation({
    id: 'createRelationship',
    summary: 'Create a relationship from a memory to another',
    description:
      'The caller must be able to see both memories. From one memory to another there is at most one relationship of each type.',
    tag,
    method: 'POST',
    path: '/memories/{id}/relationships',
    access: writing,
    body: RelationshipCreate,
    asText: ['metadata'],
    success: { 201: { description: 'The relationship', schema: Relationship } },
  }),
  listRelationships: operation({
    id: 'listRelationships',
    summary: 'Traverse the relationships of a memory',
    description:
      'Traverses breadth first, through memories that the caller can see. At depth 1 every relationship is listed; deeper, each memory ' +
      'is listed once, at its shortest depth and with its strongest path. The nearest come first, then the strongest. ' +
      `Returns at most ${MAX_TRAVERSED} items; \`count\` is the number returned.`,
    tag,
    method: 'GET',
    path: '/memories/{id}/relationships',
    access: reading,
    query: Type.Object({
      depth: Type.Optional(
        Type.Integer({
          default: 1,
          examples: [2],
          expected: 'an integer',
          description: `Values below 1 are treated as 1, values above ${MAX_TRAVERSAL_DEPTH} as ${MAX_TRAVERSAL_DEPTH}.`,
        }),
      ),
      direction: Type.Optional(
        oneOf(DIRECTIONS, {
          default: 'out',
          description: 'Which relationships to follow: outgoing, incoming or both.',
        }),
      ),
    }),
    success: {
      200: {
        description: 'The memories reached',
        schema: Type.Object({ relationships: Type.Array(RelatedMemory), count: Type.Integer() }, { $id: 'Traversal' }),
      },
    },
  }),
  deleteRelationship: operation({
    id: 'deleteRelationship',
    summary: 'Delete a relationship',
    description: 'Only the creator of the relationship, the owner of its source memory and org-admins can delete it.',
    tag,
    method: 'DELETE',
    path: '/memories/{id}/relationships/{rel_id}',
    access: writing,
    success: { 204: { description: 'Deleted' } },
  }),
} as const
