// Memories: storing, finding and linking them.
import type {
  CreatedMemory,
  Memory,
  MemoryCreate,
  MemorySearch,
  MemoryUpdate,
  MemoryVersion,
  Operations,
  RelatedMemory,
  Relationship,
  RelationshipCreate,
  SearchResult,
} from './contract.ts'
import { withoutUndefined, type Optional } from './given.ts'
import { eachOf } from './pages.ts'
import type { Call, CallOptions } from './request.ts'

/** A memory to store. It is private to the agent and semantic unless `scope` or `type` says otherwise. */
export type NewMemory = Pick<MemoryCreate, 'title' | 'content'> & Optional<MemoryCreate>

type ListQuery = Operations['listMemories']['query']
type TraversalQuery = Operations['listRelationships']['query']

const wholeOf = (memory: NewMemory): MemoryCreate => ({
  type: 'semantic',
  scope: 'agent',
  ...withoutUndefined(memory),
})

export function memoryCalls(call: Call) {
  return {
    /** Stores a memory. `similar` in the response names memories that say nearly the same. */
    remember: (memory: NewMemory, options?: CallOptions): Promise<CreatedMemory> =>
      call('createMemory', { body: wholeOf(memory) }, options),
    /** Creates the caller's memory with this external id, or changes it to what is given. */
    put: (externalId: string, memory: NewMemory, options?: CallOptions): Promise<Memory> =>
      call('putMemory', { params: { external_id: externalId }, body: wholeOf(memory) }, options),
    /** Returns the best matches for a question in natural language, best first. */
    recall: async (query: string | MemorySearch, options?: CallOptions): Promise<SearchResult[]> => {
      const body = typeof query === 'string' ? { query } : query
      return (await call('searchMemories', { body }, options)).results
    },
    /** Creates a relationship from one memory to another. */
    relate: (
      from: string,
      to: string,
      type: RelationshipCreate['relationship_type'],
      more: Pick<RelationshipCreate, 'strength' | 'metadata'> = {},
      options?: CallOptions,
    ): Promise<Relationship> => {
      const body = { target_memory_id: to, relationship_type: type, ...more }
      return call('createRelationship', { params: { id: from }, body }, options)
    },
    /** Deletes a relationship of a memory. */
    unrelate: (from: string, relationshipId: string, options?: CallOptions) =>
      call('deleteRelationship', { params: { id: from, rel_id: relationshipId } }, options),
    /** Returns the memories that can be reached from a memory along relationships. */
    explore: async (id: string, query: TraversalQuery = {}, options?: CallOptions): Promise<RelatedMemory[]> =>
      (await call('listRelationships', { params: { id }, query }, options)).relationships,
    /** Returns a memory. */
    get: (id: string, options?: CallOptions): Promise<Memory> => call('getMemory', { params: { id } }, options),
    /** Returns one page of the memories that the caller sees, and how many there are in all. */
    list: (query: ListQuery = {}, options?: CallOptions) => call('listMemories', { query }, options),
    /** Yields all memories that the caller sees, fetching page after page. */
    each: (
      query: Omit<ListQuery, 'offset' | 'limit'> = {},
      options?: CallOptions,
    ): AsyncGenerator<Memory, void, undefined> =>
      eachOf('memories', (page) => call('listMemories', { query: { ...query, ...page } }, options)),
    /** Changes the given fields of a memory. */
    update: (id: string, body: MemoryUpdate, options?: CallOptions): Promise<Memory> =>
      call('updateMemory', { params: { id }, body }, options),
    /** Deletes a memory. It appears in no response but a list with the status `deleted`. */
    forget: (id: string, options?: CallOptions) => call('deleteMemory', { params: { id } }, options),
    /** Deletes a memory and keeps nothing of it. For an org-admin. */
    erase: (id: string, options?: CallOptions) =>
      call('deleteMemory', { params: { id }, query: { erase: true } }, options),
    /** Returns memories that say nearly the same, most similar first. A score of 1 means the same. */
    similar: async (id: string, limit?: number, options?: CallOptions): Promise<SearchResult[]> =>
      (await call('findSimilarMemories', { params: { id }, query: { limit } }, options)).results,
    /** Merges memories that say the same into this one. The others are deleted, and their relationships move to it. */
    merge: (id: string, memoryIds: readonly string[], options?: CallOptions): Promise<Memory> =>
      call('mergeMemories', { params: { id }, body: { memory_ids: [...memoryIds] } }, options),
    /** Shares a memory more widely: with a team, or with the whole tenant. */
    promote: (id: string, scope: 'team' | 'institutional', teamId?: string, options?: CallOptions): Promise<Memory> =>
      call('promoteMemory', { params: { id }, body: { scope, team_id: teamId } }, options),
    /** Returns the versions that are kept, newest first. */
    history: async (id: string, options?: CallOptions): Promise<MemoryVersion[]> =>
      (await call('getMemoryHistory', { params: { id } }, options)).versions,
    /** Restores a memory to an older version. */
    restore: (id: string, version: number, options?: CallOptions): Promise<Memory> =>
      call('restoreMemory', { params: { id }, body: { version } }, options),
  }
}

export type MemoryCalls = ReturnType<typeof memoryCalls>
