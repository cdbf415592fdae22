// Maintaining memories over time: by external id, with a history that can be restored, and without duplicates.
import { Memory, MemoryCreate, SearchResult } from './memories.ts'
import { operation } from './operation.ts'
import { Type, type Static, dateTime, filledText, id, jsonObject } from './shapes.ts'

/** How many versions of a memory are kept. */
const MAX_VERSIONS = 100

export const MemoryVersion = Type.Object(
  {
    version: Type.Integer({ minimum: 1, examples: [2], description: 'Version 1 is the memory as it was created.' }),
    changed_at: dateTime(),
    changed_by: id('agt', { description: 'The agent or org-admin who made this version.' }),
    fields: jsonObject({
      examples: [{ title: 'Deploys on Friday fail', confidence: 0.9 }],
      description: 'What this version changed, with the new values. Of the oldest version that is kept, all fields.',
    }),
  },
  { $id: 'MemoryVersion' },
)
export type MemoryVersion = Static<typeof MemoryVersion>

export const MemoryRestore = Type.Object(
  { version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [1] }) },
  { $id: 'MemoryRestore' },
)

export const MemoryMerge = Type.Object(
  {
    memory_ids: Type.Array(filledText(255, { examples: ['mem_01hv3k8z9q4m7t2x5c6w8r0s1d'] }), {
      minItems: 1,
      maxItems: 20,
    }),
  },
  { $id: 'MemoryMerge' },
)

const tag = 'Memories'
const reading = { scope: 'memory:read' } as const
const writing = { scope: 'memory:write' } as const

export const memoryKeepingOperations = {
  putMemory: operation({
    id: 'putMemory',
    summary: 'Create or change a memory by its external id',
    description:
      'Among the memories that the caller owns. Makes the memory what the body says: what is left out is as a new memory has ' +
      'it. A scope only widens. Doing it twice changes nothing.',
    tag,
    method: 'PUT',
    path: '/memories/by-external-id/{external_id}',
    access: writing,
    bodyLimit: 'memory',
    body: MemoryCreate,
    asText: ['metadata'],
    success: {
      200: { description: 'The memory, changed or as it was', schema: Memory },
      201: { description: 'The new memory', schema: Memory },
    },
  }),
  getMemoryHistory: operation({
    id: 'getMemoryHistory',
    summary: 'Show the versions of a memory, newest first',
    description:
      `For whoever sees the memory. The newest ${MAX_VERSIONS} are kept, with at most 1 MiB of what changes replaced; ` +
      'the last change is always there.',
    tag,
    method: 'GET',
    path: '/memories/{id}/history',
    access: reading,
    success: {
      200: {
        description: 'The versions that are kept',
        schema: Type.Object({ versions: Type.Array(MemoryVersion) }, { $id: 'MemoryHistory' }),
      },
    },
  }),
  restoreMemory: operation({
    id: 'restoreMemory',
    summary: 'Restore a version of a memory',
    description:
      'For its owner and for org-admins. Makes a new version with the fields of the old one; scope and team stay, and an ' +
      'expiry that has passed is not restored.',
    tag,
    method: 'POST',
    path: '/memories/{id}/restore',
    access: writing,
    body: MemoryRestore,
    success: { 200: { description: 'The memory', schema: Memory } },
  }),
  findSimilarMemories: operation({
    id: 'findSimilarMemories',
    summary: 'Find memories that say nearly the same',
    description:
      'Among those that the caller sees, likest first. `score` is the cosine of their meaning: 1 is the same. Of a long memory ' +
      'the beginning is compared. `accessed_at` does not move.',
    tag,
    method: 'GET',
    path: '/memories/{id}/similar',
    access: reading,
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10, examples: [10] })),
    }),
    success: {
      200: {
        description: 'The likest memories',
        schema: Type.Object({ results: Type.Array(SearchResult) }, { $id: 'SimilarMemories' }),
      },
    },
  }),
  mergeMemories: operation({
    id: 'mergeMemories',
    summary: 'Merge memories into one',
    description:
      'For their owner and for org-admins. The memory keeps its words; relationships of the others move to it, they are ' +
      'deleted, and `metadata.derived_from` names them. All have the same owner, scope and team.',
    tag,
    method: 'POST',
    path: '/memories/{id}/merge',
    access: writing,
    body: MemoryMerge,
    success: { 200: { description: 'The memory that is left', schema: Memory } },
  }),
} as const
