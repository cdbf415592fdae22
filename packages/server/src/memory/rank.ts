// Rates how well a memory answers a query, from 0 to 1. Pure: takes what is known of the query and the candidates, and
// returns an order. calibrate.ts turns relevance into the score that is returned.
//
//   lex    BM25 over the words, divided by the most this query could reach: 0..1, and comparable between tenants
//   cos    cosine of the vectors of query and memory; of several windows the best
//   tok    for each token of the query the cosine of the most similar token of the memory, averaged by √idf of its word
//          cos and tok only count as far as they are above the baseline of the query's language (baseline.ts)
//   rel    lex, cos and tok weighted by how long memories are (blendFor); without token vectors 0.6 lex + 0.4 cos;
//          for short memories lex counts by the share of the query's words that the memory holds, and a single word
//          that is held in passing counts less or nothing, in lex and in tok (in-passing.ts)
//          a memory that is not embedded yet is presumed to mean what the best one means, by the share of the query's
//          words it holds: it is found by its words at once, however long it is, and by its own meaning as soon as that
//          is known
//   again  once: the query moves towards its three best answers, and cos is computed again
//   relevance  (of another time than the query names: 0.85 ·) rel · (1 − 0.10 (1 − confidence))
//              · (1 − 0.03 (1 − recency)) · (1 − 0.03 (1 − importance))
//
// The weights were chosen on two collections of different nature together and held up on others; neighbouring values
// differ by less than the noise. The factors multiply, because adding them would lift certain or new memories above
// those that answer the question: random values cost half a point of nDCG when multiplied, four points when added.
// Words alone or meaning alone lose 5 to 20 points.
import { DAY_MS } from '../kernel/clock.ts'
import { neverYield, type YieldCpu } from '../kernel/yield-cpu.ts'
import type { AskedTime } from './asked-time.ts'
import { above, NO_BASELINE, wordsCount, type Baseline } from './baseline.ts'
import { coverage, lexical, type Words } from './index/bm25.ts'
import { findPassing } from './in-passing.ts'
import { tokenLikeness } from './token-likeness.ts'

/** From 0 for messages to 1 for pages, by the average length in words of the memories that the caller sees. */
export const longness = (averageLength: number): number => clamp01((averageLength - 40) / 60)

interface Blend {
  lex: number
  cos: number
  tok: number
  /**
   * How far two rules apply, 0 not at all, 1 fully: a memory's words count by the share of the query's words that it
   * holds, and less if one is held in passing.
   */
  passing: number
}

/** The vectors of a service come without tokens. */
const BLEND_WITHOUT_TOKENS: Blend = { lex: 0.6, cos: 0.4, tok: 0, passing: 0 }
/**
 * Returns the weights for memories of this average length. For messages of a sentence or two the single tokens say
 * most, for pages the vector of the whole. The two ends were measured at an average of 30 and of 116 words (those of a
 * title counted three times), and between them the weights move with the length of the memories that the caller sees. A
 * short message that holds one word of several holds it in passing, more often than not; an abstract holds few of the
 * words of any question (counted there, this costs 0.7 points of nDCG). Notes of a single line have too few tokens to
 * compare: there the vector counts more again, or a paraphrase without a word in common is not found at all.
 */
export function blendFor(averageLength: number): Blend {
  const long = longness(averageLength)
  const brief = clamp01((28 - averageLength) / 8)
  return {
    lex: 0.31 + 0.065 * long + 0.04 * brief,
    cos: 0.08 + 0.52 * long + 0.27 * brief,
    tok: 0.61 - 0.585 * long - 0.31 * brief,
    passing: 1 - long,
  }
}
/** How far, and towards how many of the best, the query moves before cos is computed again. */
const FEEDBACK = { weight: 0.6, best: 3 } as const
const CONFIDENCE = 0.1
const RECENCY = 0.03
const IMPORTANCE = 0.03
const HALF_LIFE_DAYS = 30
/**
 * The share of its relevance that a memory of another time than the query names loses, if other candidates are of that
 * time: less than the lead of a better answer, and more than newness can give.
 */
const ASKED_TIME = 0.15

const clamp01 = (value: number): number => Math.min(1, Math.max(0, value))

/** How many candidates are found by words, and how many by meaning, before they are ranked together. */
export const CANDIDATES = 100

/** How many are found by meaning for a search that wants this many results. */
export const candidatesFor = (limit: number): number => Math.max(CANDIDATES, limit)

export interface Meaning {
  vector: Float32Array
  /** Empty if the model provides none. */
  tokens: Int8Array
  /**
   * For a query: the index of each token's word among the query's words, -1 if the word is none of them, STOP_WORD
   * for a stop word.
   */
  wordOfToken?: readonly number[]
  /** For a query: how alike it looks to any text of its language. */
  baseline?: Baseline
}

/** What a memory itself adds to its score, whatever is asked. Each finder says where it takes these from. */
export interface Weights {
  confidence: number
  importance: number
  /** When the memory was last known to be true. */
  freshAt: number
}

export interface Candidate extends Weights {
  id: string
  /** Weighted frequency of each word of the query, in the order of `idf`. */
  frequencies: ArrayLike<number>
  length: number
  /** The window that is nearest to the query; null until the memory is embedded. */
  meaning: Meaning | null
}

export interface Signals {
  similarity: number
  lexical: number
  /** The likeness of its tokens to those of the query; left out when the model provides none. */
  tokens?: number
  /** Its similarity to the query that has moved towards its best answers; left out when nothing has a meaning. */
  feedback?: number
  confidence: number
  recency: number
  importance: number
  // What lowers it, each left out when it does not apply.
  /** How far its only word of the query is held in passing. */
  in_passing?: number
  /** The share of its relevance that it loses because the query names another time. */
  other_time?: number
  /** How strongly another result contradicts it. */
  contradicted?: number
  /** The score of the rerank service, if one was asked. */
  reranked?: number
}

export interface Ranked {
  id: string
  /** Orders results; 0 to 1. */
  relevance: number
  signals: Signals
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

/** Marks a token that is a stop word of the query's language: it counts nothing. */
export const STOP_WORD = -2

/** Returns the weight of each token: √idf of its word. A token of no word of the query counts as the rarest. */
export function tokenWeights(words: Words, { wordOfToken = [] }: Meaning): number[] {
  const rarest = Math.max(1, ...words.idf)
  return wordOfToken.map((word) => (word === STOP_WORD ? 0 : Math.sqrt(words.idf[word] ?? rarest)))
}

/** Returns the query moved towards its best answers and brought back to length 1. */
function movedTowards(query: Float32Array, best: readonly Float32Array[]): Float32Array {
  const towards = Float32Array.from(query)
  for (const vector of best)
    for (let i = 0; i < towards.length; i++) towards[i]! += (FEEDBACK.weight / best.length) * vector[i]!
  const norm = Math.sqrt(dot(towards, towards)) || 1
  for (let i = 0; i < towards.length; i++) towards[i]! /= norm
  return towards
}

export const recency = (freshAt: number, now: number): number =>
  2 ** (-Math.max(0, now - freshAt) / DAY_MS / HALF_LIFE_DAYS)

/** The signals of a memory that are its own, whatever is asked. */
type OwnSignals = Pick<Signals, 'confidence' | 'recency' | 'importance'>

/** Returns the share of its relevance that a memory keeps, given its own signals. */
export const factors = (own: OwnSignals): number =>
  (1 - CONFIDENCE * (1 - own.confidence)) * (1 - RECENCY * (1 - own.recency)) * (1 - IMPORTANCE * (1 - own.importance))

interface Scored {
  candidate: Candidate
  meaning: Meaning | null
  lex: number
  cos: number
  /** The cosine after the query has moved. */
  again: number
  tok: number
  /** How far its only word is held in passing. */
  passing: number
  /** The part of `rel` that comes from its words. */
  byWords: number
  rel: number
}

/** Computes all signals of each candidate, with the cosine from before the query moves. */
function score(
  words: Words,
  query: Meaning | null,
  blend: Blend,
  candidates: readonly Candidate[],
  yieldCpu: YieldCpu,
): Scored[] {
  const weights = query === null ? [] : tokenWeights(words, query)
  const baseline = query?.baseline ?? NO_BASELINE
  const compared = candidates.map((candidate) => {
    const meaning = query === null ? null : candidate.meaning
    const cos = meaning ? above(baseline.cos, dot(query!.vector, meaning.vector)) : null
    return { candidate, frequencies: candidate.frequencies, meaning, cos }
  })
  const inPassing = blend.passing === 0 ? () => 0 : findPassing(words, compared)
  return compared.map((one) => {
    yieldCpu()
    const { candidate, frequencies, meaning, cos } = one
    const lex = lexical(words, frequencies, candidate.length)
    const passing = blend.passing * inPassing(one)
    const counts = 1 - passing
    const shares = counts === 1 ? [] : query!.wordOfToken?.map((word) => (frequencies[word]! > 0 ? counts : 1))
    const tok = meaning ? above(baseline.tok, tokenLikeness(query!.tokens, meaning.tokens, weights, shares)) : 0
    // A query that is not embedded has nothing but its words.
    const held = query === null || blend.passing === 0 ? 1 : coverage(words, frequencies) ** blend.passing
    const byWords = blend.lex * lex * held * counts * wordsCount(baseline)
    const rel = byWords + blend.cos * (cos ?? 0) + blend.tok * tok
    return { candidate, meaning, lex, cos: cos ?? 0, again: cos ?? 0, tok, passing, byWords, rel }
  })
}

export function rank(
  words: Words,
  query: Meaning | null,
  candidates: readonly Candidate[],
  now: number,
  yieldCpu: YieldCpu = neverYield,
  time: AskedTime | null = null,
): Ranked[] {
  const blend = query && query.tokens.length > 0 ? blendFor(words.averageLength) : BLEND_WITHOUT_TOKENS
  const scored = score(words, query, blend, candidates, yieldCpu)
  const best = scored
    .filter(({ meaning }) => meaning !== null)
    .sort((a, b) => b.rel - a.rel || (a.candidate.id < b.candidate.id ? -1 : 1))
    .slice(0, FEEDBACK.best)
  if (best.length > 0) {
    const again = movedTowards(
      query!.vector,
      best.map(({ meaning }) => meaning!.vector),
    )
    for (const one of scored) {
      if (!one.meaning) continue
      one.again = above((query!.baseline ?? NO_BASELINE).cos, dot(again, one.meaning.vector))
      one.rel += blend.cos * (one.again - one.cos)
    }
  }
  const mostMeant = Math.max(
    0,
    ...scored.filter(({ meaning }) => meaning !== null).map(({ rel, byWords }) => rel - byWords),
  )
  for (const one of scored)
    if (query !== null && one.meaning === null) one.rel += mostMeant * coverage(words, one.candidate.frequencies)
  const isMeant = ({ freshAt }: Candidate): boolean => time === null || (freshAt >= time.from && freshAt < time.to)
  // If no candidate is of the named time, the time says nothing about any of them.
  const beside = candidates.some(isMeant) ? 1 - ASKED_TIME : 1
  return scored
    .map((one): Ranked => {
      const { id, confidence, importance, freshAt } = one.candidate
      const own: OwnSignals = { confidence, recency: recency(freshAt, now), importance }
      const timely = isMeant(one.candidate) ? 1 : beside
      return {
        id,
        relevance: clamp01(softened(one.rel, query?.baseline) * timely * factors(own)),
        signals: { ...signalsOf(one, query), ...own, ...(timely < 1 && { other_time: ASKED_TIME }) },
      }
    })
    .sort((a, b) => b.relevance - a.relevance || (a.id < b.id ? 1 : -1))
}

/**
 * The words of a foreign text count so much that good matches would reach 1, and confidence and meaning would decide no
 * more: from SOFT_FROM on relevance rises more slowly, and stays below 1.
 */
function softened(rel: number, baseline: Baseline = NO_BASELINE): number {
  if (baseline.foreign === 0 || rel <= SOFT_FROM) return rel
  return SOFT_FROM + (1 - SOFT_FROM) * (1 - Math.exp((SOFT_FROM - rel) / (1 - SOFT_FROM)))
}
const SOFT_FROM = 0.6

/** The signals of a memory that depend on the query. */
function signalsOf(
  { lex, cos, again, tok, passing, meaning }: Scored,
  query: Meaning | null,
): Omit<Signals, keyof OwnSignals> {
  const signals = { similarity: clamp01(cos), lexical: clamp01(lex), ...(passing > 0 && { in_passing: passing }) }
  if (query === null || meaning === null) return signals
  return { ...signals, ...(query.tokens.length > 0 && { tokens: clamp01(tok) }), feedback: clamp01(again) }
}
