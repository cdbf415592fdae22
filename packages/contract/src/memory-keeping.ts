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
    changed_by: id('agt', { description: 'The id of the agent or org-admin that made this version.' }),
    fields: jsonObject({
      examples: [{ title: 'Deploys on Friday fail', confidence: 0.9 }],
      description:
        'The fields that this version changed, with their new values. The oldest version that is kept has all fields.',
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
    summary: 'Create or update a memory by its external id',
    description:
      'Creates the memory if the caller owns none with this external id. Otherwise replaces it with the body: fields that are ' +
      'left out get the defaults of a new memory. A scope can only widen. Repeating the request changes nothing.',
    tag,
    method: 'PUT',
    path: '/memories/by-external-id/{external_id}',
    access: writing,
    bodyLimit: 'memory',
    body: MemoryCreate,
    asText: ['metadata'],
    success: {
      200: { description: 'The memory, updated or unchanged', schema: Memory },
      201: { description: 'The new memory', schema: Memory },
    },
  }),
  getMemoryHistory: operation({
    id: 'getMemoryHistory',
    summary: 'List the versions of a memory, newest first',
    description:
      `Every caller that can see the memory can see its history. The newest ${MAX_VERSIONS} versions are kept, with at most 1 MiB of replaced values; ` +
      'the last change is always kept.',
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
      'Only the owner and org-admins can restore a version. Creates a new version with the fields of the old one. Scope and team ' +
      'do not change, and an expiry that has passed is not restored.',
    tag,
    method: 'POST',
    path: '/memories/{id}/restore',
    access: writing,
    body: MemoryRestore,
    success: { 200: { description: 'The memory', schema: Memory } },
  }),
  findSimilarMemories: operation({
    id: 'findSimilarMemories',
    summary: 'Find similar memories',
    description:
      'Finds memories that say nearly the same, among those that the caller can see, most similar first. `score` is the cosine ' +
      'similarity of the embeddings; 1 means the same. Of a long memory in the path only the beginning is compared. `accessed_at` is not updated.',
    tag,
    method: 'GET',
    path: '/memories/{id}/similar',
    access: reading,
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10, examples: [10] })),
    }),
    success: {
      200: {
        description: 'The most similar memories',
        schema: Type.Object({ results: Type.Array(SearchResult) }, { $id: 'SimilarMemories' }),
      },
    },
  }),
  mergeMemories: operation({
    id: 'mergeMemories',
    summary: 'Merge memories into one',
    description:
      'Only the owner and org-admins can merge memories. The memory keeps its own text. The relationships of the others move to it, ' +
      'the others are deleted, and `metadata.derived_from` names them. All must have the same owner, scope and team.',
    tag,
    method: 'POST',
    path: '/memories/{id}/merge',
    access: writing,
    body: MemoryMerge,
    success: { 200: { description: 'The merged memory', schema: Memory } },
  }),
} as const
