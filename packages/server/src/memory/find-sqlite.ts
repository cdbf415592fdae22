// The search of the embedded store, inside the search thread: a connection of its own, read only, and the shelves of
// the tenants that were searched lately.
import { makeBreathe } from '../kernel/breathe.ts'
import { one, type Value } from '../store/db.ts'
import type { Cells, ReaderDb } from '../store/sqlite.ts'
import { bytesOf, floatsOf, signedOf } from './embed/embedding.ts'
import { filterConditions, type Finder, type Sought } from './memory-index.ts'
import { posting, type Posting } from './postings.ts'
import { idf, PICKED, rank, saturation, type Candidate, type Meaning, type Words } from './rank.ts'
import { both } from './see.ts'
import { isSeen, isWanted, Shelf, type ShelfRow, type View } from './shelf.ts'
import { countTerms, termsOf, TITLE_WEIGHT } from './terms.ts'
import { wordToken } from './words.ts'

/** Shelves of other tenants are put away beyond this. */
const MAX_BYTES = 96 * 1_048_576
/**
 * Windows compared exactly after the signatures have chosen: of 50,000, 200 held 0.997 of the exact top ten, 400 all.
 */
const RESCORED = 256
/** Vectors fetched at once, in some two tenths of a millisecond. */
const FETCHED = 64
/** More new texts than this since the last search are not worth patching the words that were kept. */
const MAX_RETOLD = 200

const SHELF_ROWS = `select m.tenant_id, m.id, m.agent_id, m.team_id, m.scope, m.status, m.type, m.confidence, m.importance, coalesce(m.freshness_date, m.updated_at) as fresh_at,
    m.expires_at, r.doc, r.length, r.version
  from memories m join memory_recall r on r.tenant_id = m.tenant_id and r.memory_id = m.id
  where m.tenant_id = ? and m.status = 'active'`

function shelfRow(cells: Cells): ShelfRow {
  const [
    tenant_id,
    id,
    agent_id,
    team_id,
    scope,
    status,
    type,
    confidence,
    importance,
    fresh_at,
    expires_at,
    doc,
    length,
    version,
  ] = cells
  return {
    tenant_id,
    id,
    agent_id,
    team_id,
    scope,
    status,
    type,
    confidence,
    importance,
    fresh_at,
    expires_at,
    doc,
    length,
    version,
  } as ShelfRow
}

const SIGNATURES = 'select memory_id, number, signature from memory_vectors where tenant_id = ? and model = ?'

export function makeFinder(db: ReaderDb): Finder {
  // In the order of their last search.
  const shelves = new Map<string, Shelf>()

  const breathe = makeBreathe()

  const sign =
    (shelf: Shelf) =>
    ([id, number, signature]: Cells): void =>
      shelf.sign(id as string, number as number, signature as Uint8Array)

  async function fill(tenantId: string, model: string, seq: number): Promise<Shelf> {
    const shelf = new Shelf()
    db.each(SHELF_ROWS, [tenantId], (cells) => void shelf.put(shelfRow(cells)))
    db.each(SIGNATURES, [tenantId, model], sign(shelf))
    shelf.seq = seq
    return shelf
  }

  async function update(shelf: Shelf, tenantId: string, model: string, seq: number): Promise<void> {
    const changed = await db.rows<{ memory_id: string }>(
      'select distinct memory_id from memory_changes where tenant_id = ? and seq > ?',
      [tenantId, shelf.seq],
    )
    const ids = new Set(changed.map(({ memory_id }) => memory_id))
    shelf.seq = seq
    if (ids.size === 0) return
    const list = db.dialect.list([...ids])
    shelf.forget(ids)
    const gone = new Set(ids)
    const retold = new Map<string, { place: number; changed: boolean }>()
    db.each(`${SHELF_ROWS} and ${db.dialect.inList('m.id')}`, [tenantId, list], (cells) => {
      const row = shelfRow(cells)
      const { place, before } = shelf.put(row)
      if (before !== row.version) retold.set(row.id, { place, changed: before !== undefined })
      gone.delete(row.id)
    })
    if (retold.size > MAX_RETOLD) shelf.postings.clear()
    else if (retold.size > 0) await retell(shelf, tenantId, retold)
    for (const id of gone) shelf.remove(id)
    db.each(`${SIGNATURES} and ${db.dialect.inList('memory_id')}`, [tenantId, model, list], sign(shelf))
  }

  async function shelfOf(tenantId: string, model: string): Promise<Shelf> {
    const key = `${tenantId} ${model}`
    // The log of changes is cut from its old end: who has not seen what was cut starts anew.
    const log = await one<{ newest: number | null; oldest: number | null }>(
      db,
      'select max(seq) as newest, min(seq) as oldest from memory_changes',
    )
    const seq = log?.newest ?? 0
    let shelf = shelves.get(key)
    shelves.delete(key)
    if (shelf && !shelf.worn && shelf.seq >= (log?.oldest ?? 0) - 1) await update(shelf, tenantId, model, seq)
    else shelf = await fill(tenantId, model, seq)
    shelves.set(key, shelf)
    let bytes = 0
    for (const kept of shelves.values()) bytes += kept.bytes
    for (const [other, kept] of shelves) {
      if (bytes <= MAX_BYTES || other === key) break
      shelves.delete(other)
      bytes -= kept.bytes
    }
    return shelf
  }

  async function retell(
    shelf: Shelf,
    tenantId: string,
    retold: ReadonlyMap<string, { place: number; changed: boolean }>,
  ): Promise<void> {
    const texts = await db.rows<{ id: string; title: string; content: string }>(
      `select id, title, content from memories where tenant_id = ? and ${db.dialect.inList('id')}`,
      [tenantId, db.dialect.list([...retold.keys()])],
    )
    shelf.postings.retell(
      texts.map(({ id, title, content }) => ({
        ...retold.get(id)!,
        counts: countTerms(termsOf(title), termsOf(content)).counts,
      })),
    )
  }

  // Every place of a word, from the vocabulary of the full-text index, which has them in the order of the documents.
  function postingOf(shelf: Shelf, tenantId: string, term: string): Posting {
    const kept = shelf.postings.get(term)
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
      const place = shelf.byDoc.get(doc as number)
      if (place === undefined) return
      last = doc as number
      places.push(place)
      frequencies.push(weight)
    })
    const read = posting(places, frequencies)
    shelf.postings.put(term, read)
    return read
  }

  /** How many of the memories in view hold a word. */
  function holding(view: View, { places }: Posting): number {
    let seen = 0
    for (let i = 0; i < places.length; i++) if (isSeen(view, places[i]!)) seen++
    return seen
  }

  /** The wanted memories with the best words. */
  function bestByWords(shelf: Shelf, view: View, words: Words, postings: readonly Posting[]): number[] {
    const sums = new Float64Array(shelf.ids.length)
    const held: number[] = []
    postings.forEach(({ places, frequencies }, term) => {
      const weight = words.idf[term]!
      for (let i = 0; i < places.length; i++) {
        const place = places[i]!
        if (!isWanted(view, place)) continue
        if (sums[place] === 0) held.push(place)
        sums[place]! += weight * saturation(frequencies[i]!, shelf.lengths[place]!, words.averageLength)
      }
    })
    return highest(held, sums, PICKED, (place) => shelf.ids[place]!)
  }

  /** Visits what a query says of windows with these numbers, which it is given as its last value, a few at a time. */
  function eachOf(
    sql: string,
    values: readonly Value[],
    numbers: readonly number[],
    visit: (cells: Cells) => void,
  ): void {
    for (let first = 0; first < numbers.length; first += FETCHED) {
      db.each(sql, [...values, JSON.stringify(numbers.slice(first, first + FETCHED))], visit)
      breathe()
    }
  }

  /**
   * The nearest window of each memory that could be among the best, and of those that the words brought: its number by
   * its place.
   */
  function bestWindows(shelf: Shelf, view: View, { meaning }: Sought, byWords: readonly number[]): Map<number, number> {
    if (meaning === null) return new Map()
    const likely = shelf.nearest(meaning.vector, view, RESCORED, breathe)
    const found = new Set(likely.map(({ place }) => place))
    const asked = [...likely, ...shelf.windowsAt(new Set(byWords.filter((place) => !found.has(place))))]
    const placeOf = new Map(asked.map(({ number, place }) => [number, place]))
    const best = new Map<number, { number: number; distance: number }>()
    const vector = bytesOf(meaning.vector)
    // sqlite-vec computes the cosine where the vector lies; a vector of another model, by its length, has none. The cross
    // join keeps the order: the list first. No ?1 and ?2: releases of Node.js 22 before 22.20 cannot bind them.
    eachOf(
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
  function meanings(windows: ReadonlyMap<number, number>): Map<number, Meaning> {
    const placeOf = new Map([...windows].map(([place, number]) => [number, place]))
    const meaningAt = new Map<number, Meaning>()
    eachOf(
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

  /** The memories that pass the filters which the shelf does not know; null when there are none. */
  function passing({ viewer, filters }: Sought): Set<string> | null {
    const conditions = filterConditions(filters)
    if (conditions.length === 0) return null
    const { sql, values } = both(...conditions)
    const ids = new Set<string>()
    db.each(
      `select m.id from memories m where m.tenant_id = ? and m.status = 'active' and ${sql}`,
      [viewer.tenantId, ...values],
      ([id]) => void ids.add(id as string),
    )
    breathe()
    return ids
  }

  return {
    async find(sought) {
      const { viewer, terms, limit, now } = sought
      const { tenantId } = viewer
      const shelf = await shelfOf(tenantId, sought.model)
      const view = shelf.view({ ...sought, only: passing(sought) })
      const postings: Posting[] = []
      for (const term of terms) {
        postings.push(postingOf(shelf, tenantId, term))
        breathe()
      }
      const words: Words = {
        idf: postings.map((posting) => idf(view.memories, holding(view, posting))),
        averageLength: view.averageLength,
      }
      const byWords = bestByWords(shelf, view, words, postings)
      breathe()
      const windows = bestWindows(shelf, view, sought, byWords)
      const places = new Set([...byWords, ...windows.keys()])
      const frequencies = frequenciesAt(postings, (place) => places.has(place))
      const none = new Float64Array(terms.length)
      const meaningAt = meanings(windows)
      const candidates = [...places].map(
        (place): Candidate => ({
          id: shelf.ids[place]!,
          frequencies: frequencies.get(place) ?? none,
          length: shelf.lengths[place]!,
          meaning: meaningAt.get(place) ?? null,
          confidence: shelf.confidence[place]!,
          importance: shelf.importance[place]!,
          freshAt: shelf.freshAt[place]!,
        }),
      )
      return rank(words, sought.meaning, candidates, now, breathe).slice(0, limit)
    },
  }
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
