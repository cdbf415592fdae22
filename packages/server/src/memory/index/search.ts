// Sends requests to the search thread, which opens the store at `where` for itself. Tenants take turns, and so do the
// agents of a tenant.
import { makeThread } from '../../kernel/thread.ts'
import { makeTurns } from '../../kernel/turns.ts'
import { StoreUnavailable } from '../../store/db.ts'
import type { SearchResponse, Requests, SearchRequest, Where } from './search-thread.ts'
import type { Viewer } from '../see.ts'

export interface SearchThread {
  ask<K extends keyof Requests>(
    viewer: Viewer,
    kind: K,
    about: Requests[K]['request'],
  ): Promise<Requests[K]['response']>
  close(): Promise<void>
}

/** On the embedded store one is computed and the next is ready when it ends; on PostgreSQL two are computed. */
const AT_ONCE = 2

export function makeSearch(where: Where): SearchThread {
  const thread = makeThread<SearchRequest, SearchResponse>(
    new URL('./search-thread.ts', import.meta.url),
    'search',
    where,
  )
  const turns = makeTurns({ what: 'searches waiting', atOnce: AT_ONCE })
  return {
    ask: (viewer, kind, about) =>
      turns.take(viewer.tenantId, viewer.id, async () => {
        const response = await thread.ask({ kind, about } as SearchRequest)
        if ('unavailable' in response) throw new StoreUnavailable(response.unavailable)
        return response.found as never
      }),
    close: thread.close,
  }
}
