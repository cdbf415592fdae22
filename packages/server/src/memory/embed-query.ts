// Embeds queries. Tenants take turns at the model, and agents inside a tenant; recent queries are cached.
import { Failure } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Turns } from '../kernel/turns.ts'
import type { EmbeddedWindow, Embedder } from './embed/embedder.ts'
import { makeQueryCache } from './embed/query-cache.ts'
import type { Viewer } from './see.ts'

const SPACES = /\s+/g
/** In characters: more than the 254 tokens that the model reads of a query, and more words than are looked up. */
const MAX_QUERY = 4_096

const onOneLine = (text: string): string => text.replaceAll(SPACES, ' ').trim()

/**
 * Returns as much of a text as a search reads, on one line. The part beyond twice that length is looked at only if most
 * of the part before it is white space.
 */
export function asQuery(text: string): string {
  const beginning = onOneLine(text.slice(0, 2 * MAX_QUERY))
  return (beginning.length > MAX_QUERY ? beginning : onOneLine(text)).slice(0, MAX_QUERY).toWellFormed()
}

/** Resolves to null if the model fails. Throws if too many queries wait for it. */
export type EmbedQuery = (viewer: Viewer, query: string) => Promise<EmbeddedWindow | null>

export function makeEmbedQuery(embedder: Embedder, turns: Turns, log: Logger): EmbedQuery {
  const cache = makeQueryCache()
  return async ({ tenantId, id }, query) => {
    try {
      return await cache.of(tenantId, query, () => turns.take(tenantId, id, () => embedder.query(query, tenantId)))
    } catch (error) {
      if (error instanceof Failure) throw error // too many queries wait for the model
      log.warn({ err: error }, 'the query was not embedded; searching by words')
      return null
    }
  }
}
