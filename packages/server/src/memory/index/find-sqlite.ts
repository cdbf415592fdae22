// The search of the embedded store, inside the search thread: a connection of its own, read only, and the columns of
// the tenants that were searched lately.
import { makeYieldCpu, type YieldCpu } from '../../kernel/yield-cpu.ts'
import type { Value } from '../../store/db.ts'
import type { Cells, ReaderDb } from '../../store/sqlite.ts'
import { idf, saturation, type Words } from '../bm25.ts'
import { bytesOf, floatsOf, signedOf } from '../embed/embedding.ts'
import { PICKED, rank, type Candidate, type Meaning, type Weights } from '../rank.ts'
import { both } from '../see.ts'
import { filterConditions } from './filter-conditions.ts'
import { foundWith, type Finder, type SearchQuery } from './memory-index.ts'
import { posting, together, type Posting } from './postings.ts'
import { makeTenantCache } from './tenant-cache.ts'
import { isSeen, isWanted, type TenantColumns, type View } from './tenant-columns.ts'
import { TITLE_WEIGHT } from './terms.ts'
import { wordToken } from './write-sqlite.ts'

/**
 * Where each weight of a score comes from. A column that changes must be one that the trigger `memory_changed` names.
 */
const WEIGHTS: Record<keyof Weights, string> = {
  confidence: 'm.confidence',
  importance: 'm.importance',
  freshAt: 'coalesce(m.freshness_date, m.updated_at)',
}

/**
 * Windows compared exactly after the signatures have chosen: of 50,000, 200 held 0.997 of the exact top ten, 400 all.
 */
const RESCORED = 256
/** Vectors fetched at once, in some two tenths of a millisecond. */
const FETCHED = 64

/** What reads for a search, and leaves the processor to others between its queries. */
interface Reading {
  db: ReaderDb
  yieldCpu: YieldCpu
}

export function sqliteFinder(db: ReaderDb): Finder {
  const cache = makeTenantCache(db, WEIGHTS)
  const yieldCpu = makeYieldCpu()
  const reading: Reading = { db, yieldCpu }

  return {
    async find(search) {
      const { viewer, limit, now } = search
      const { tenantId } = viewer
      const columns = await cache.columnsOf(tenantId, search.model)
      const view = columns.view({ ...search, only: passing(reading, search) })
      const postings: Posting[] = []
      for (const forms of search.words) {
        postings.push(together(forms.map((form) => postingOf(db, columns, tenantId, form))))
        yieldCpu()
      }
      const words: Words = {
        idf: postings.map((posting) => idf(view.memories, holding(view, posting))),
        averageLength: view.averageLength,
        memories: view.memories,
      }
      const byWords = bestByWords(columns, view, words, postings)
      yieldCpu()
      const windows = bestWindows(reading, columns, view, search, byWords)
      const places = new Set([...byWords, ...windows.keys()])
      const frequencies = frequenciesAt(postings, (place) => places.has(place))
      const none = new Float64Array(search.words.length)
      const meaningAt = meanings(reading, windows)
      const candidates = [...places].map(
        (place): Candidate => ({
          id: columns.ids[place]!,
          frequencies: frequencies.get(place) ?? none,
          length: columns.lengths[place]!,
          meaning: meaningAt.get(place) ?? null,
          ...columns.weightsAt(place),
        }),
      )
      return foundWith(words, search.meaning, rank(words, search.meaning, candidates, now, yieldCpu).slice(0, limit))
    },
  }
}

// Every place of a word, from the vocabulary of the full-text index, which has them in the order of the documents.
function postingOf(db: ReaderDb, columns: TenantColumns, tenantId: string, term: string): Posting {
  const kept = columns.postings.get(term)
  if (kept) return kept
  const places: number[] = []
  const frequencies: number[] = []
  let last = -1
  db.each('select doc, col from memory_word_places where term = ?', [wordToken(tenantId, term)], ([doc, col]) => {
    const weight = col === 'title' ? TITLE_WEIGHT : 1
    if (doc === last) {
      frequencies[frequencies.length - 1]! += weight
      return
    }
    const place = columns.byDoc.get(doc as number)
    if (place === undefined) return
    last = doc as number
    places.push(place)
    frequencies.push(weight)
  })
  const read = posting(places, frequencies)
  columns.postings.put(term, read)
  return read
}

/** How many of the memories in view hold a word. */
function holding(view: View, { places }: Posting): number {
  let seen = 0
  for (let i = 0; i < places.length; i++) if (isSeen(view, places[i]!)) seen++
  return seen
}

/** The wanted memories with the best words. */
function bestByWords(columns: TenantColumns, view: View, words: Words, postings: readonly Posting[]): number[] {
  const sums = new Float64Array(columns.ids.length)
  const held: number[] = []
  postings.forEach(({ places, frequencies }, term) => {
    const weight = words.idf[term]!
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!
      if (!isWanted(view, place)) continue
      if (sums[place] === 0) held.push(place)
      sums[place]! += weight * saturation(frequencies[i]!, columns.lengths[place]!, words.averageLength)
    }
  })
  return highest(held, sums, PICKED, (place) => columns.ids[place]!)
}

/** Visits what a query says of windows with these numbers, which it is given as its last value, a few at a time. */
function eachOf(
  { db, yieldCpu }: Reading,
  sql: string,
  values: readonly Value[],
  numbers: readonly number[],
  visit: (cells: Cells) => void,
): void {
  for (let first = 0; first < numbers.length; first += FETCHED) {
    db.each(sql, [...values, JSON.stringify(numbers.slice(first, first + FETCHED))], visit)
    yieldCpu()
  }
}

/**
 * The nearest window of each memory that could be among the best, and of those that the words brought: its number by
 * its place.
 */
function bestWindows(
  reading: Reading,
  columns: TenantColumns,
  view: View,
  { meaning }: SearchQuery,
  byWords: readonly number[],
): Map<number, number> {
  if (meaning === null) return new Map()
  const likely = columns.nearest(meaning.vector, view, RESCORED, reading.yieldCpu)
  const found = new Set(likely.map(({ place }) => place))
  const asked = [...likely, ...columns.windowsAt(new Set(byWords.filter((place) => !found.has(place))))]
  const placeOf = new Map(asked.map(({ number, place }) => [number, place]))
  const best = new Map<number, { number: number; distance: number }>()
  const vector = bytesOf(meaning.vector)
  // sqlite-vec computes the cosine where the vector lies; a vector of another model, by its length, has none. The cross
  // join keeps the order: the list first. No ?1 and ?2: releases of Node.js 22 before 22.20 cannot bind them.
  eachOf(
    reading,
    `select v.number, case when length(v.vector) = ? then vec_distance_cosine(v.vector, ?) end from json_each(?) w cross join memory_vectors v on v.number = w.value`,
    [vector.byteLength, vector],
    asked.map(({ number }) => number),
    ([number, distance]) => {
      if (distance === null) return
      const place = placeOf.get(number as number)!
      if ((distance as number) < (best.get(place)?.distance ?? Infinity))
        best.set(place, { number: number as number, distance: distance as number })
    },
  )
  const nearest = [...best]
    .filter(([place]) => found.has(place))
    .sort((a, b) => a[1].distance - b[1].distance || a[0] - b[0])
    .slice(0, PICKED)
  const kept = new Set([...nearest.map(([place]) => place), ...byWords])
  return new Map([...best].filter(([place]) => kept.has(place)).map(([place, { number }]) => [place, number]))
}

/** What the windows mean, by the place of their memory. */
function meanings(reading: Reading, windows: ReadonlyMap<number, number>): Map<number, Meaning> {
  const placeOf = new Map([...windows].map(([place, number]) => [number, place]))
  const meaningAt = new Map<number, Meaning>()
  eachOf(
    reading,
    'select v.number, v.vector, v.tokens from json_each(?) w cross join memory_vectors v on v.number = w.value',
    [],
    [...placeOf.keys()],
    ([number, vector, tokens]) => {
      meaningAt.set(placeOf.get(number as number)!, {
        vector: floatsOf(vector as Uint8Array),
        tokens: signedOf(tokens as Uint8Array),
      })
    },
  )
  return meaningAt
}

/** The memories that pass the filters which the columns do not have; null when there are none. */
function passing({ db, yieldCpu }: Reading, { viewer, filters }: SearchQuery): Set<string> | null {
  const conditions = filterConditions(filters)
  if (conditions.length === 0) return null
  const { sql, values } = both(...conditions)
  const ids = new Set<string>()
  db.each(
    `select m.id from memories m where m.tenant_id = ? and m.status = 'active' and ${sql}`,
    [viewer.tenantId, ...values],
    ([id]) => void ids.add(id as string),
  )
  yieldCpu()
  return ids
}

/** The places with the highest sums, without sorting them all; of equals the newest. */
function highest(
  places: readonly number[],
  sums: Float64Array,
  many: number,
  idOf: (place: number) => string,
): number[] {
  const order = (a: number, b: number): number => sums[b]! - sums[a]! || (idOf(a) < idOf(b) ? 1 : -1)
  let kept: number[] = []
  let least = -1
  for (const place of places) {
    if (sums[place]! < least) continue
    kept.push(place)
    if (kept.length < many * 8) continue
    kept = kept.sort(order).slice(0, many)
    least = sums[kept.at(-1)!]!
  }
  return kept.sort(order).slice(0, many)
}

function frequenciesAt(postings: readonly Posting[], wanted: (place: number) => boolean): Map<number, Float64Array> {
  const frequencies = new Map<number, Float64Array>()
  postings.forEach((posting, term) => {
    posting.places.forEach((place, i) => {
      if (!wanted(place)) return
      let counts = frequencies.get(place)
      if (!counts) frequencies.set(place, (counts = new Float64Array(postings.length)))
      counts[term] = posting.frequencies[i]!
    })
  })
  return frequencies
}
