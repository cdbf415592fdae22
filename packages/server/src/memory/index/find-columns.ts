// Search over the columns of a tenant, on both engines: takes the memories that the viewer sees, picks the best by
// words and the nearest by meaning, and ranks them together. The engine reads the data that is not in the columns.
import type { YieldCpu } from '../../kernel/yield-cpu.ts'
import { idf, saturation, type Words } from './bm25.ts'
import { CANDIDATES, candidatesFor, rank, type Candidate, type Meaning } from '../rank.ts'
import { asSearch, foundWith, likest, type Finder, type Found, type SearchQuery } from './memory-index.ts'
import { mergeForms, type Posting } from './postings.ts'
import { isCheckedForSpelling, mostSimilarWords, type Vocabulary } from './spelling.ts'
import type { TenantCache } from './tenant-cache.ts'
import type { Window } from './signatures.ts'
import { isSeen, isWanted, type TenantColumns, type View } from './tenant-columns.ts'
import { windowsByColumns } from './windows-to-compare.ts'

/** A window that was compared with the query, with its meaning if it is in memory. */
export interface Compared {
  window: Window
  cos: number
  meaning?: Meaning
}

/** The reads of a search that depend on the engine. */
export interface ColumnReads {
  cache: TenantCache
  /** Returns ids of memories that pass the filters not covered by the columns; null when there are no such filters. */
  passing(search: SearchQuery): Promise<ReadonlySet<string> | null>
  /** Returns for each of these forms, in their order, the memories that hold it. */
  postings(columns: TenantColumns, tenantId: string, forms: readonly string[]): Promise<Posting[]>
  /** Returns the words of the tenant that begin with a letter, up to a limit. */
  vocabulary(tenantId: string, letter: string): Promise<Vocabulary>
  /** Returns the cosine of each window and the query; windows without one are left out. */
  compare(columns: TenantColumns, search: SearchQuery, windows: readonly Window[]): Promise<Compared[]>
  /** Returns the meanings of windows, by the row of their memory. */
  meanings(columns: TenantColumns, windows: readonly Compared[]): Promise<Map<number, Meaning>>
  yieldCpu: YieldCpu
}

/** `fallback` searches tenants that are too large for columns. */
export const columnFinder = (reads: ColumnReads, fallback?: Finder): Finder => ({
  async find(search) {
    const columns = await reads.cache.columnsOf(search.viewer.tenantId, search.model)
    return columns === null ? fallback!.find(search) : findIn(reads, columns, search)
  },
  async nearest(query) {
    const columns = await reads.cache.columnsOf(query.viewer.tenantId, query.model)
    if (columns === null) return fallback!.nearest(query)
    const search = asSearch(query)
    const view = columns.view({ ...search, only: null })
    reads.yieldCpu()
    const windows = await bestWindows(reads, columns, view, search, [], query.leastCos)
    return likest(
      [...windows].map(([row, { cos }]) => ({ id: columns.ids[row]!, cos })),
      query.limit,
    )
  },
})

async function findIn(reads: ColumnReads, columns: TenantColumns, search: SearchQuery): Promise<Found> {
  const { limit, now, time = null } = search
  const { yieldCpu } = reads
  const only = await reads.passing(search)
  const view = columns.view({ ...search, only })
  const postings = await correctSpelling(reads, columns, view, search, await postingsOf(reads, columns, search))
  yieldCpu()
  const words: Words = {
    idf: postings.map((posting) => idf(view.memories, holding(view, posting))),
    averageLength: view.averageLength,
    memories: view.memories,
  }
  const byWords = bestByWords(columns, view, words, postings)
  yieldCpu()
  const windows = await bestWindows(reads, columns, view, search, byWords)
  const rows = new Set([...byWords, ...windows.keys()])
  const frequencies = frequenciesAt(columns, postings, rows)
  const none = new Float64Array(search.words.length)
  const meaningAt = await reads.meanings(columns, [...windows.values()])
  const candidates = [...rows].map(
    (row): Candidate => ({
      id: columns.ids[row]!,
      frequencies: frequencies.get(row) ?? none,
      length: columns.lengths[row]!,
      meaning: meaningAt.get(row) ?? null,
      ...columns.weightsAt(row),
    }),
  )
  return foundWith(words, search.meaning, rank(words, search.meaning, candidates, now, yieldCpu, time).slice(0, limit))
}

/** Returns which memories hold each of these forms, from the columns if it is cached there. */
async function readPostings(
  reads: ColumnReads,
  columns: TenantColumns,
  tenantId: string,
  forms: readonly string[],
): Promise<Map<string, Posting>> {
  const known = new Map<string, Posting>()
  const missing: string[] = []
  for (const form of forms) {
    const kept = columns.postings.get(form)
    if (kept) known.set(form, kept)
    else missing.push(form)
  }
  if (missing.length === 0) return known
  const texts = columns.texts
  const read = await reads.postings(columns, tenantId, missing)
  missing.forEach((form, i) => {
    known.set(form, read[i]!)
    // Not cached if a text changed meanwhile: the change could not be patched into a posting that was still being read.
    if (columns.texts === texts) columns.postings.put(form, read[i]!)
  })
  return known
}

/** Returns for each word of the query the memories that hold it. */
async function postingsOf(reads: ColumnReads, columns: TenantColumns, search: SearchQuery): Promise<Posting[]> {
  const known = await readPostings(reads, columns, search.viewer.tenantId, search.words.flat())
  return search.words.map((forms) => mergeForms(forms.map((form) => known.get(form)!)))
}

/** The most words of a query whose spelling is corrected. */
const MAX_CORRECTED = 4

/** Replaces each word that no memory in view holds by the most similar word that one of them does hold. */
async function correctSpelling(
  reads: ColumnReads,
  columns: TenantColumns,
  view: View,
  { words, meaning, viewer: { tenantId } }: SearchQuery,
  postings: readonly Posting[],
): Promise<Posting[]> {
  const found = [...postings]
  // A word that the model knows as one token is spelt correctly, even if no memory holds it.
  const isKnown = (word: number): boolean => meaning?.wordOfToken?.filter((index) => index === word).length === 1
  let left = MAX_CORRECTED
  for (const [i, [word]] of words.entries()) {
    if (left === 0 || !isCheckedForSpelling(word!) || holding(view, postings[i]!) > 0 || isKnown(i)) continue
    left--
    const vocabulary = await vocabularyOf(reads, columns, tenantId, word![0]!)
    const similar = mostSimilarWords(word!, vocabulary, reads.yieldCpu)
    const held = await readPostings(reads, columns, tenantId, similar)
    // Only memories in view count: a correction must not reveal which words other memories hold.
    const meant = similar.find((other) => holding(view, held.get(other)!) > 0)
    if (meant !== undefined) found[i] = held.get(meant)!
  }
  return found
}

/** How many letters have their words cached. */
const MAX_LETTERS = 4

async function vocabularyOf(
  reads: ColumnReads,
  columns: TenantColumns,
  tenantId: string,
  letter: string,
): Promise<Vocabulary> {
  const kept = columns.vocabularies.get(letter)
  if (kept) return kept
  const texts = columns.texts
  const read = await reads.vocabulary(tenantId, letter)
  if (columns.texts !== texts) return read
  const [oldest] = columns.vocabularies.keys()
  if (columns.vocabularies.size >= MAX_LETTERS) columns.vocabularies.delete(oldest!)
  columns.vocabularies.set(letter, read)
  return read
}

/** Returns how many of the memories in view hold a word. */
function holding(view: View, { rows }: Posting): number {
  let seen = 0
  for (let i = 0; i < rows.length; i++) if (isSeen(view, rows[i]!)) seen++
  return seen
}

/** Returns the rows of the wanted memories that match best by words. */
function bestByWords(columns: TenantColumns, view: View, words: Words, postings: readonly Posting[]): number[] {
  const sums = new Float64Array(columns.ids.length)
  const held: number[] = []
  postings.forEach(({ rows, frequencies }, term) => {
    const weight = words.idf[term]!
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!
      if (!isWanted(view, row)) continue
      if (sums[row] === 0) held.push(row)
      sums[row]! += weight * saturation(frequencies[i]!, columns.lengths[row]!, words.averageLength)
    }
  })
  return highest(held, sums, CANDIDATES, (row) => columns.ids[row]!)
}

/** Returns, by row, the nearest window of each memory that could be among the best or was found by its words. */
async function bestWindows(
  reads: ColumnReads,
  columns: TenantColumns,
  view: View,
  search: SearchQuery,
  byWords: readonly number[],
  leastCos?: number,
): Promise<Map<number, Compared>> {
  if (search.meaning === null) return new Map()
  const wanted = { vector: search.meaning.vector, many: windowsByColumns(view), leastCos }
  const likely = columns.windows.nearest(wanted, view.mask, reads.yieldCpu)
  const found = new Set(likely.map(({ row }) => row))
  const asked = [...likely, ...columns.windows.at(new Set(byWords.filter((row) => !found.has(row))))]
  const best = new Map<number, Compared>()
  for (const one of await reads.compare(columns, search, asked))
    if (one.cos > (best.get(one.window.row)?.cos ?? -Infinity)) best.set(one.window.row, one)
  const nearest = [...best]
    .filter(([row]) => found.has(row))
    .sort((a, b) => b[1].cos - a[1].cos || a[0] - b[0])
    .slice(0, candidatesFor(search.limit))
  const kept = new Set([...nearest.map(([row]) => row), ...byWords])
  return new Map([...best].filter(([row]) => kept.has(row)))
}

/** Returns the rows with the highest sums, without sorting all of them; among equals, the newest first. */
function highest(rows: readonly number[], sums: Float64Array, many: number, idOf: (row: number) => string): number[] {
  const order = (a: number, b: number): number => sums[b]! - sums[a]! || (idOf(a) < idOf(b) ? 1 : -1)
  let kept: number[] = []
  let least = -1
  for (const row of rows) {
    if (sums[row]! < least) continue
    kept.push(row)
    if (kept.length < many * 8) continue
    kept = kept.sort(order).slice(0, many)
    least = sums[kept.at(-1)!]!
  }
  return kept.sort(order).slice(0, many)
}

/** Returns how often each of these memories holds each word. */
function frequenciesAt(
  columns: TenantColumns,
  postings: readonly Posting[],
  wanted: ReadonlySet<number>,
): Map<number, Float64Array> {
  const frequencies = new Map<number, Float64Array>()
  // A common word is in a hundred thousand rows, and an array is looked up faster than a set.
  const isWanted = new Uint8Array(columns.ids.length)
  for (const row of wanted) isWanted[row] = 1
  for (const [term, { rows, frequencies: counts }] of postings.entries()) {
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!
      if (isWanted[row] !== 1) continue
      let held = frequencies.get(row)
      if (!held) frequencies.set(row, (held = new Float64Array(postings.length)))
      held[term] = counts[i]!
    }
  }
  return frequencies
}
