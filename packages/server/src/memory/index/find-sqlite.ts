// Search on the embedded store. It runs in the search thread, with its own read-only connection and the columns of the
// recently searched tenants.
import { makeYieldCpu, type YieldCpu } from '../../kernel/yield-cpu.ts'
import type { Value } from '../../store/db.ts'
import type { Cells, ReaderDb } from '../../store/sqlite.ts'
import { bytesOf, floatsOf, signedOf } from '../embed/embedder.ts'
import { dot, type Meaning } from '../rank.ts'
import { sqliteColumns } from './columns-sqlite.ts'
import { passingQuery } from './filter-conditions.ts'
import { columnFinder, type ColumnReads, type Compared } from './find-columns.ts'
import type { Finder, SearchQuery } from './memory-index.ts'
import { posting, type Posting } from './postings.ts'
import { MAX_VOCABULARY, type Vocabulary } from './spelling.ts'
import { makeTenantCache, type TenantCache } from './tenant-cache.ts'
import type { Window } from './signatures.ts'
import type { TenantColumns } from './tenant-columns.ts'
import { TITLE_WEIGHT } from './terms.ts'
import { PART, wordToken } from './write-sqlite.ts'

/** Vectors fetched at once, in about 0.2 ms. */
const FETCHED = 64

/** The connection of a search, and the function that yields the CPU to other threads between its queries. */
interface Reading {
  db: ReaderDb
  yieldCpu: YieldCpu
}

export function sqliteFinder(db: ReaderDb, cache: TenantCache = makeTenantCache(sqliteColumns(db))): Finder {
  const yieldCpu = makeYieldCpu()
  const reading: Reading = { db, yieldCpu }
  const reads: ColumnReads = {
    cache,
    passing: async (search) => passing(reading, search),
    postings: async (columns, tenantId, forms) =>
      forms.map((form) => {
        yieldCpu()
        return postingOf(db, columns, tenantId, form)
      }),
    vocabulary: async (tenantId, letter) => vocabulary(db, tenantId, letter),
    compare: async (columns, { meaning }, windows) => compare(reading, columns, meaning!.vector, windows),
    meanings: async (columns, windows) => meanings(reading, columns, windows),
    yieldCpu,
  }
  return columnFinder(reads)
}

// Reads every occurrence of a word from the vocabulary of the full-text index, which is ordered by document.
function postingOf(db: ReaderDb, columns: TenantColumns, tenantId: string, term: string): Posting {
  const rows: number[] = []
  const frequencies: number[] = []
  let last = -1
  db.each('select doc, col from memory_word_places where term = ?', [wordToken(tenantId, term)], ([doc, col]) => {
    const weight = col === 'title' ? TITLE_WEIGHT : 1
    if (doc === last) {
      frequencies[frequencies.length - 1]! += weight
      return
    }
    const row = columns.byDoc.get((doc as number) % PART)
    if (row === undefined) return
    last = doc as number
    rows.push(row)
    frequencies.push(weight)
  })
  return posting(rows, frequencies)
}

// The words of the full-text index. A read-only connection may create temporary tables; they end with the transaction.
const VOCABULARY =
  "create virtual table if not exists temp.memory_vocabulary using fts5vocab(main, 'memory_words', 'row')"

function vocabulary(db: ReaderDb, tenantId: string, letter: string): Vocabulary {
  db.each(VOCABULARY, [], () => {})
  const words: Vocabulary = new Map()
  const prefix = wordToken(tenantId, '').length
  const after = String.fromCharCode(letter.charCodeAt(0) + 1)
  // The words of a tenant with one first letter, each with the number of memories that hold it.
  db.each(
    'select term, doc from temp.memory_vocabulary where term >= ? and term < ? limit ?',
    [wordToken(tenantId, letter), wordToken(tenantId, after), MAX_VOCABULARY],
    ([term, holding]) => void words.set((term as string).slice(prefix), holding as number),
  )
  return words
}

/** Visits the rows of a query for the windows with these numbers, bound as its last value a few at a time. */
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

function compare(
  reading: Reading,
  columns: TenantColumns,
  asked: Float32Array,
  windows: readonly Window[],
): Compared[] {
  const compared: Compared[] = []
  const windowOf = new Map<number, Window>()
  for (const window of windows) {
    const meaning = columns.meanings.get(window.row, window.number)
    if (!meaning) windowOf.set(window.number, window)
    else if (meaning.vector.length === asked.length) compared.push({ window, cos: dot(asked, meaning.vector), meaning })
  }
  reading.yieldCpu()
  const vector = bytesOf(asked)
  // sqlite-vec computes the cosine inside SQLite. A vector of another length comes from another model and has none. The
  // cross join keeps the list first. No ?1 and ?2: releases of Node.js 22 before 22.20 cannot bind them.
  eachOf(
    reading,
    `select v.number, case when length(v.vector) = ? then vec_distance_cosine(v.vector, ?) end from json_each(?) w cross join memory_vectors v on v.number = w.value`,
    [vector.byteLength, vector],
    [...windowOf.keys()],
    ([number, distance]) => {
      if (distance !== null) compared.push({ window: windowOf.get(number as number)!, cos: 1 - (distance as number) })
    },
  )
  return compared
}

/** Returns the meanings of windows by the row of their memory. Those not cached are read, and cached for later. */
function meanings(reading: Reading, columns: TenantColumns, windows: readonly Compared[]): Map<number, Meaning> {
  const meaningAt = new Map<number, Meaning>()
  const rowOf = new Map<number, number>()
  for (const { window, meaning } of windows) {
    if (meaning) meaningAt.set(window.row, meaning)
    else rowOf.set(window.number, window.row)
  }
  eachOf(
    reading,
    'select v.number, v.vector, v.tokens from json_each(?) w cross join memory_vectors v on v.number = w.value',
    [],
    [...rowOf.keys()],
    ([number, vector, tokens]) => {
      const row = rowOf.get(number as number)!
      const meaning = { vector: floatsOf(vector as Uint8Array), tokens: signedOf(tokens as Uint8Array) }
      meaningAt.set(row, meaning)
      columns.meanings.put(row, number as number, meaning)
    },
  )
  return meaningAt
}

function passing({ db, yieldCpu }: Reading, search: SearchQuery): Set<string> | null {
  const query = passingQuery(search)
  if (!query) return null
  const ids = new Set<string>()
  db.each(query.sql, query.values, ([id]) => void ids.add(id as string))
  yieldCpu()
  return ids
}
