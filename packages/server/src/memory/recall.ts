// Recall: what of all that a viewer may see answers a query best. By words and by meaning together; by words alone when
// there is no meaning to be had in time: a search does not fail because a model does.
import { setTimeout as delay } from 'node:timers/promises'
import type { MemorySearch, SearchResult, Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Db, Store } from '../store/db.ts'
import { meter } from '../tenants/usage.ts'
import type { Embedder } from './embed/embedding.ts'
import type { Embedding } from './embed-memories.ts'
import { MAX_TERMS, type MemoryIndex } from './memory-index.ts'
import type { Meaning, Ranked } from './rank.ts'
import { seenBy, type Viewer } from './see.ts'
import { memoryColumns, shownMemory, touchMemories, type MemoryRow } from './sql.ts'
import { termsOf } from './terms.ts'

export type RecallOptions = Omit<Static<typeof MemorySearch>, 'query' | 'explain'> & {
  /**
   * When half of this has passed the query goes by words alone, and when all of it has there is no answer: it fails.
   */
  budgetMs?: number
}

/** Ids with their scores, best first. Changes nothing: neither accessed_at nor the count of searches. */
export type Recall = (viewer: Viewer, query: string, options?: RecallOptions) => Promise<Ranked[]>

export interface RecallTools {
  index: MemoryIndex
  embedder: Embedder
  embedding: Embedding
  clock: Clock
  log: Logger
}

export const DEFAULT_LIMIT = 10

export function makeRecall({ index, embedder, embedding, clock, log }: RecallTools): Recall {
  async function meaningOf(query: string): Promise<Meaning | null> {
    try {
      return await embedder.query(query)
    } catch (error) {
      log.warn({ err: error }, 'the query was not embedded; searching by words')
      return null
    }
  }

  return async (
    viewer,
    query,
    { scope, type, limit = DEFAULT_LIMIT, min_confidence: minConfidence = 0, budgetMs } = {},
  ) => {
    // Half of the time is for the meaning: a model that is still being loaded must leave enough for a search by words.
    const within = <T>(work: Promise<T>, otherwise: () => T): Promise<T> =>
      budgetMs === undefined
        ? work
        : Promise.race([work, delay(budgetMs / 2, undefined, { ref: false }).then(otherwise)])
    const [meaning] = await within<[Meaning | null, void]>(Promise.all([meaningOf(query), embedding.soon()]), () => [
      null,
      undefined,
    ])
    const terms = [...new Set(termsOf(query))].slice(0, MAX_TERMS)
    const found = index.find({
      viewer: { kind: viewer.kind, id: viewer.id, tenantId: viewer.tenantId, teamId: viewer.teamId },
      scope: scope ?? null,
      type: type ?? null,
      minConfidence,
      limit,
      now: clock.now(),
      terms,
      meaning,
      model: embedder.model,
    })
    // An empty answer would say that there is nothing.
    return within(found, () => {
      throw new Error(`the search took longer than ${budgetMs} ms`)
    })
  }
}

export interface SearchAnswer {
  results: SearchResult[]
  total: number
}

/** A search as the contract has it: counted, and the memories it returns were accessed. */
export async function searchMemories(
  store: Store,
  recall: Recall,
  now: number,
  principal: Principal,
  { query, explain = false, ...options }: Static<typeof MemorySearch>,
  answered: (tx: Db, answer: SearchAnswer) => Promise<void> = async () => {},
): Promise<SearchAnswer> {
  const ranked = await recall(principal, query, options)
  return store.tx(async (tx) => {
    const memories = await touched(
      tx,
      principal,
      ranked.map(({ id }) => id),
      now,
    )
    meter(tx, now, [[principal.tenantId, 'searches', 1]])
    // One that was deleted, or hidden from the caller, between the search and now is left out.
    const results = ranked.flatMap(({ id, score, signals }): SearchResult[] => {
      const row = memories.get(id)
      return row ? [{ memory: shownMemory(row), score, ...(explain ? { signals } : {}) }] : []
    })
    const answer = { results, total: results.length }
    await answered(tx, answer)
    return answer
  })
}

async function touched(tx: Db, viewer: Viewer, ids: readonly string[], now: number): Promise<Map<string, MemoryRow>> {
  if (ids.length === 0) return new Map()
  const seen = seenBy(viewer, now)
  // Given memories, those of them that the viewer sees.
  const rows = await tx.rows<MemoryRow>(
    `select ${memoryColumns('m')} from memories m where ${seen.sql} and ${tx.dialect.inList('m.id')}`,
    [...seen.values, tx.dialect.list(ids)],
  )
  await touchMemories(
    tx,
    viewer.tenantId,
    rows.map(({ id }) => id),
    now,
  )
  return new Map(rows.map((row) => [row.id, { ...row, accessed_at: Math.max(row.accessed_at, now) }]))
}
