// What an agent keeps, finds again and links.
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
import { given } from './given.ts'
import { eachOf } from './pages.ts'
import type { Call, CallOptions } from './request.ts'

/** A memory as a caller gives it; private and semantic unless it says otherwise. */
export type NewMemory = Pick<MemoryCreate, 'title' | 'content'> & Partial<MemoryCreate>

type ListQuery = Operations['listMemories']['query']
type TraversalQuery = Operations['listRelationships']['query']

export function memoryCalls(call: Call) {
  return {
    /** `similar` in what comes back names memories that say nearly the same. */
    remember: (memory: NewMemory, options?: CallOptions): Promise<CreatedMemory> =>
      call('createMemory', { body: { type: 'semantic', scope: 'agent', ...given(memory) } }, options),
    /** Makes the memory of the caller with this external id, or makes it what is given. */
    put: (externalId: string, memory: NewMemory, options?: CallOptions): Promise<Memory> =>
      call(
        'putMemory',
        { params: { external_id: externalId }, body: { type: 'semantic', scope: 'agent', ...given(memory) } },
        options,
      ),
    /** The best matches for a question in natural language, best first. */
    recall: async (query: string | MemorySearch, options?: CallOptions): Promise<SearchResult[]> => {
      const body = typeof query === 'string' ? { query } : query
      return (await call('searchMemories', { body }, options)).results
    },
    /** Draws a line from one memory to another. */
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
    unrelate: (from: string, relationshipId: string, options?: CallOptions) =>
      call('deleteRelationship', { params: { id: from, rel_id: relationshipId } }, options),
    /** What can be reached from a memory along its relationships. */
    explore: async (id: string, query: TraversalQuery = {}, options?: CallOptions): Promise<RelatedMemory[]> =>
      (await call('listRelationships', { params: { id }, query }, options)).relationships,
    get: (id: string, options?: CallOptions): Promise<Memory> => call('getMemory', { params: { id } }, options),
    list: (query: ListQuery = {}, options?: CallOptions) => call('listMemories', { query }, options),
    each: (
      query: Omit<ListQuery, 'offset' | 'limit'> = {},
      options?: CallOptions,
    ): AsyncGenerator<Memory, void, undefined> =>
      eachOf(async (page) => {
        const { memories, total } = await call('listMemories', { query: { ...query, ...page } }, options)
        return { items: memories, total }
      }),
    update: (id: string, body: MemoryUpdate, options?: CallOptions): Promise<Memory> =>
      call('updateMemory', { params: { id }, body }, options),
    forget: (id: string, options?: CallOptions) => call('deleteMemory', { params: { id } }, options),
    /** For org-admins: nothing of it is kept. */
    erase: (id: string, options?: CallOptions) =>
      call('deleteMemory', { params: { id }, query: { erase: true } }, options),
    /** Memories that say nearly the same, likest first; a score of 1 is the same. */
    similar: async (id: string, limit?: number, options?: CallOptions): Promise<SearchResult[]> =>
      (await call('findSimilarMemories', { params: { id }, query: limit === undefined ? {} : { limit } }, options))
        .results,
    /** Makes one of several that say the same; the others are deleted, their relationships move. */
    merge: (id: string, memoryIds: readonly string[], options?: CallOptions): Promise<Memory> =>
      call('mergeMemories', { params: { id }, body: { memory_ids: [...memoryIds] } }, options),
    promote: (id: string, scope: 'team' | 'institutional', teamId?: string, options?: CallOptions): Promise<Memory> => {
      const body = { scope, ...(teamId === undefined ? {} : { team_id: teamId }) }
      return call('promoteMemory', { params: { id }, body }, options)
    },
    /** The versions that are kept, newest first. */
    history: async (id: string, options?: CallOptions): Promise<MemoryVersion[]> =>
      (await call('getMemoryHistory', { params: { id } }, options)).versions,
    /** Makes a memory again what it was in an older version. */
    restore: (id: string, version: number, options?: CallOptions): Promise<Memory> =>
      call('restoreMemory', { params: { id }, body: { version } }, options),
  }
}

export type MemoryCalls = ReturnType<typeof memoryCalls>
