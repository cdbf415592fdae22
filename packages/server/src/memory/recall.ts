// Recall: finds the memories, among all that a viewer may see, that answer a query best. It goes by words and meaning
// together, and by words alone when the query cannot be embedded in time: a search does not fail because a model does.
import type { MemorySearch, Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { Clock } from '../kernel/clock.ts'
import type { JsonBody } from '../kernel/json-body.ts'
import type { StepTurns } from '../kernel/step-turns.ts'
import { withinTime } from '../kernel/within-time.ts'
import type { Db, Store } from '../store/db.ts'
import { meter } from '../tenants/usage.ts'
import { askedTime } from './asked-time.ts'
import type { EmbeddedWindow } from './embed/embedder.ts'
import { baselineOf } from './baseline.ts'
import { asQuery, type EmbedQuery } from './embed-query.ts'
import type { Embedding } from './embed-memories.ts'
import { MAX_WORDS, type MemoryIndex, type Recalled } from './index/memory-index.ts'
import { STOP_WORD, type Meaning } from './rank.ts'
import { RERANKED, type Rerank } from './rerank.ts'
import { seenBy, type Viewer } from './see.ts'
import { listMemoriesById, touchMemories } from './sql.ts'
import { smallWords, type Language } from './index/languages.ts'
import { askedWords, type Word } from './index/terms.ts'
import { formsOf } from './index/word-forms.ts'
import { jsonBody, type MemoryItem, type Reading } from './wire.ts'

type RecallOptions = Omit<Static<typeof MemorySearch>, 'query' | 'explain'> & {
  /**
   * Half of this is for embedding the query: after that the search goes by words alone. The other half is for the
   * search itself: after that it fails.
   */
  budgetMs?: number
}

/** Returns ids with their scores, best first. Changes nothing: neither accessed_at nor the count of searches. */
export type Recall = (viewer: Viewer, query: string, options?: RecallOptions) => Promise<Recalled[]>

interface RecallTools {
  index: MemoryIndex
  embedQuery: EmbedQuery
  /** Only vectors of this model are compared. */
  model: string
  embedding: Embedding
  clock: Clock
  /** Reorders the best results with a better model; null where none is configured. */
  rerank: Rerank | null
  /** Long queries wait here for their turn to be split into words. */
  steps: StepTurns
}

/** Longer queries wait for a turn of their own: splitting 4,096 characters into words takes a millisecond or more. */
const LONG_QUERY = 512

const DEFAULT_LIMIT = 10

/** Returns the meaning of a query, with its tokens joined to its words; null if the model does not know its words. */
function meaningOf(
  query: string,
  { vector, tokens, words, isUnread }: EmbeddedWindow,
  asked: readonly Word[],
  languages: readonly Language[],
): Meaning | null {
  if (isUnread) return null
  // A service, which tells no words, is presumed to know all languages.
  if (words === undefined) return { vector, tokens }
  const small = languages.length === 1 ? smallWords[languages[0]!] : smallWords.en
  const placeOf = (word: string): number =>
    small.has(word) ? STOP_WORD : asked.findIndex((forms) => forms[0] === formsOf(word, ['en'])[0])
  return { vector, tokens, wordOfToken: words.map(placeOf), baseline: baselineOf(query, words) }
}

const time = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text))

const filtersOf = ({ project_id, source_event_id, created_after, created_before, metadata }: RecallOptions) => ({
  projectId: project_id,
  sourceEventId: source_event_id,
  createdAfter: time(created_after),
  createdBefore: time(created_before),
  metadata,
})

export function makeRecall({ index, embedQuery, model, embedding, clock, rerank, steps }: RecallTools): Recall {
  return async (
    viewer,
    asked,
    { scope, type, limit = DEFAULT_LIMIT, min_confidence: minConfidence = 0, min_score = 0, budgetMs, ...filters } = {},
  ) => {
    const query = asQuery(asked)
    // Half of the time is for the meaning: a model that is still loading must leave enough for a search by words.
    const within = <T>(work: Promise<T>, otherwise: () => T): Promise<T> =>
      budgetMs === undefined ? work : withinTime(clock, budgetMs / 2, work, otherwise)
    const [embedded] = await within<[EmbeddedWindow | null, void]>(
      Promise.all([embedQuery(viewer, query), embedding.waitForRecent(viewer.tenantId)]),
      () => [null, undefined],
    )
    // Many queries that wait for the model, or that ask the same, come back from it in one turn.
    if (query.length > LONG_QUERY) await steps.take(viewer.tenantId, viewer.id)
    const { words, languages } = askedWords(query)
    words.splice(MAX_WORDS)
    const found = index.find({
      viewer: { kind: viewer.kind, id: viewer.id, tenantId: viewer.tenantId, teamId: viewer.teamId },
      scope: scope ?? null,
      type: type ?? null,
      minConfidence,
      filters: filtersOf(filters),
      // Enrichment, which sets a budget, has no time for reranking.
      limit: rerank && budgetMs === undefined ? Math.max(limit, RERANKED) : limit,
      now: clock.now(),
      words,
      meaning: embedded && meaningOf(query, embedded, words, languages),
      time: askedTime(query, clock.now()),
      model,
    })
    // An empty result would say that there are no such memories.
    const ranked = await within(found, () => {
      throw new Error(`the search took longer than ${budgetMs} ms`)
    })
    const reread = rerank && budgetMs === undefined ? await rerank(viewer, query, ranked) : ranked
    return reread.slice(0, limit).filter(({ score }) => score >= min_score)
  }
}

/**
 * A longer row is marked as accessed in a transaction of its own: SQLite writes all of it again, 9 ms for ten
 * megabytes.
 */
const LONG_ROW = 65_536

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)

/**
 * Marks long memories as accessed, one by one with turns for others in between. A mark that fails is left out: the
 * search is done and recorded.
 */
async function touchLong(store: Store, principal: Principal, ids: readonly string[], now: number): Promise<void> {
  for (const id of ids)
    await store
      .tx((tx) => touchMemories(tx, principal.tenantId, [id], now), { caller: principal, mayBeLost: true })
      .catch(() => {})
}

/** A search as the contract defines it: it is counted, and the memories it returns are marked as accessed. */
export async function searchMemories(
  store: Store,
  recall: Recall,
  principal: Principal,
  { query, explain = false, ...options }: Static<typeof MemorySearch>,
  { now, isBrief }: Reading,
  answered: (tx: Db, body: JsonBody) => Promise<void> = async () => {},
): Promise<JsonBody> {
  const ranked = await recall(principal, query, options)
  const seen = seenBy(principal, now)
  let long: readonly string[] = []
  const found = await store.tx(
    async (tx) => {
      const listed = await listMemoriesById(tx, seen, idsOf(ranked))
      const rows = new Map(listed.map((row) => [row.id, row]))
      const short = listed.filter(({ bytes }) => bytes <= LONG_ROW)
      await touchMemories(tx, principal.tenantId, idsOf(short), now)
      long = idsOf(listed.filter(({ bytes }) => bytes > LONG_ROW))
      meter(tx, now, [[principal.tenantId, 'searches', 1]])
      // A memory that was deleted, or hidden from the caller, since the search is left out.
      const items = ranked.flatMap(({ id, score, signals }): MemoryItem[] => {
        const row = rows.get(id)
        if (!row) return []
        const memory = { ...row, accessed_at: Math.max(row.accessed_at, now) }
        const shown = explain ? `,"signals":${JSON.stringify(signals)}` : ''
        return [{ memory, before: '{"memory":', after: `,"score":${score}${shown}}` }]
      })
      const response = { open: '{"results":[', items, close: (count: number) => `],"total":${count}}`, isBrief }
      const body = await jsonBody(tx, store, seen, response)
      await answered(tx, body)
      return body
    },
    { caller: principal },
  )
  await touchLong(store, principal, long, now)
  return found
}
