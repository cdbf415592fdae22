// Has the best results of a search read by a better model: a service that speaks the rerank interface of Cohere and
// Jina, POST …/rerank `{model, query, documents, top_n}` → `{results: [{index, relevance_score}]}`. It is asked about
// the best 30 within a time limit. On any failure the order stays as it was and only the log says so.
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Db } from '../store/db.ts'
import { rounded } from './calibrate.ts'
import type { Recalled } from './index/memory-index.ts'
import { addressOf, postJson, ServiceFailed, type ModelService } from './model-service.ts'
import { factors } from './rank.ts'
import { seenBy, type Viewer } from './see.ts'
import { makeServicePauses } from './service-pauses.ts'

/** Returns the found memories in a better order, best first. */
export type Rerank = (viewer: Viewer, query: string, found: readonly Recalled[]) => Promise<readonly Recalled[]>

/** How many of the best results the service reads. */
export const RERANKED = 30
const TIMEOUT_MS = 1_500
/**
 * Requests under way at once, and how many of them are kept for tenants with none: further searches are not reranked.
 */
const MAX_AT_ONCE = 16
const KEPT = 4
/** Characters of a memory that are sent, about what such models take in. */
const MAX_TEXT = 2_000
/** Of a response: some services send the texts back. */
const MAX_BYTES = 1_048_576
/** How far a result is lowered if another one contradicts it with full strength. Not measured. */
const CONTRADICTED = 0.3

/** Returns scores as chances. If any lies outside 0..1, the service responds with log odds, and all are converted. */
export function chances(scores: readonly number[]): number[] {
  const fine = scores.every((score) => score >= 0 && score <= 1)
  return scores.map((score) => (fine ? score : 1 / (1 + Math.exp(-score))))
}

/** Returns the service's score for each document, in the order of the documents. */
function scoresOf(answer: unknown, documents: number): number[] {
  const { results } = (answer ?? {}) as { results?: ({ index?: unknown; relevance_score?: unknown } | null)[] }
  const scores = new Array<unknown>(documents).fill(null)
  if (Array.isArray(results))
    for (const one of results)
      if (typeof one?.index === 'number' && one.index in scores) scores[one.index] = one.relevance_score
  if (!scores.every(Number.isFinite))
    throw new ServiceFailed('the rerank service answered without a score for each memory')
  return chances(scores as number[])
}

/** Returns the results that were read in their new order, then the rest as it was, none scored above those. */
export function inNewOrder(
  read: readonly Recalled[],
  scores: readonly number[],
  rest: readonly Recalled[],
): Recalled[] {
  const rescored = read
    .map((one, i) => {
      const { contradicted = 0 } = one.signals
      const signals = { ...one.signals, reranked: scores[i]! }
      return { ...one, signals, score: scores[i]! * factors(one.signals) * (1 - CONTRADICTED * contradicted) }
    })
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
  const least = rescored.at(-1)?.score ?? 1
  return [...rescored, ...rest.map((one) => ({ ...one, score: Math.min(one.score, least) }))].map((one) => ({
    ...one,
    score: rounded(one.score),
  }))
}

/** Returns the beginnings of the given memories that the viewer sees, by id. */
async function readBeginnings(
  db: Db,
  viewer: Viewer,
  ids: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, string>> {
  const seen = seenBy(viewer, now)
  // The beginnings of the texts of given memories. Metadata, which may be megabytes, is not even read.
  const rows = await db.rows<{ id: string; title: string; content: string }>(
    `select m.id, substr(m.title, 1, ${MAX_TEXT}) as title, substr(m.content, 1, ${MAX_TEXT}) as content
       from memories m where ${seen.sql} and ${db.dialect.inList('m.id')}`,
    [...seen.values, db.dialect.list(ids)],
  )
  // To many services half a character at the end is invalid JSON: no search would be reranked for a while.
  return new Map(rows.map(({ id, title, content }) => [id, `${title}\n${content}`.slice(0, MAX_TEXT).toWellFormed()]))
}

/** Whether a failure may be about what was sent: thirty long memories may take a service longer than there is time. */
const isAboutText = (error: unknown): boolean =>
  error instanceof ServiceFailed || (error instanceof DOMException && error.name === 'TimeoutError')

export function makeRerank({ url, model, apiKey }: ModelService, db: Db, clock: Clock, log: Logger): Rerank {
  const address = addressOf(url, 'rerank')
  const pauses = makeServicePauses(clock)
  const underWay: string[] = []
  const isFree = (tenantId: string): boolean =>
    underWay.length < (underWay.includes(tenantId) ? MAX_AT_ONCE - KEPT : MAX_AT_ONCE)

  async function ask(query: string, documents: readonly string[]): Promise<number[]> {
    const asked = { model, query, documents, top_n: documents.length }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await postJson(address, apiKey, asked, { signal, most: MAX_BYTES })
    if ('failed' in response) throw new ServiceFailed(`the rerank service answered ${response.failed}`)
    return scoresOf(response.body, documents.length)
  }

  return async (viewer, query, found) => {
    const { tenantId } = viewer
    if (found.length < 2 || pauses.isPaused(tenantId) || !isFree(tenantId)) return found
    underWay.push(tenantId)
    try {
      const ids = found.slice(0, RERANKED).map(({ id }) => id)
      const texts = await readBeginnings(db, viewer, ids, clock.now())
      // A memory that is gone by now is left out.
      const read = found.slice(0, RERANKED).filter(({ id }) => texts.has(id))
      const scores = await ask(
        query,
        read.map(({ id }) => texts.get(id)!),
      )
      pauses.succeeded()
      return inNewOrder(read, scores, found.slice(RERANKED))
    } catch (error) {
      pauses.failed(tenantId, isAboutText(error))
      log.warn({ err: error }, 'results were not reranked; they stay in their order')
      return found
    } finally {
      underWay.splice(underWay.indexOf(tenantId), 1)
    }
  }
}
