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
  /** Lets the thread learn what its store can do now. Before the first request there is nothing to learn for. */
  learn(): Promise<void>
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
  let isUsed = false

  async function send(request: SearchRequest): Promise<unknown> {
    isUsed = true
    const response = await thread.ask(request)
    if ('unavailable' in response) throw new StoreUnavailable(response.unavailable)
    return response.found
  }

  return {
    ask: (viewer, kind, about) =>
      turns.take(viewer.tenantId, viewer.id, () => send({ kind, about } as SearchRequest)) as Promise<never>,
    async learn() {
      if (isUsed) await send({ kind: 'learn', about: null })
    },
    close: thread.close,
  }
}
