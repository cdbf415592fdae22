// The search of PostgreSQL over columns that the search thread keeps in memory, as on the embedded store. Asked in SQL
// alone, a search among 10,000 memories took 110 ms of a processor of the server, most of it to join words and signatures
// with the rows that say who may see them.
import { makeYieldCpu } from '../../kernel/yield-cpu.ts'
import type { Store } from '../../store/db.ts'
import { floatsOf, signedOf } from '../embed/embedding.ts'
import { dot, type Meaning } from '../rank.ts'
import { both } from '../see.ts'
import { filterConditions } from './filter-conditions.ts'
import { columnFinder, type ColumnReads, type Compared } from './find-columns.ts'
import type { Finder, SearchQuery } from './memory-index.ts'
import { posting, type Posting } from './postings.ts'
import { MAX_VOCABULARY, type Vocabulary } from './spelling.ts'
import type { TenantCache } from './tenant-cache.ts'
import type { TenantColumns, Window } from './tenant-columns.ts'

/** `otherwise` finds in tenants of which there is too much to keep. */
export function postgresColumnFinder(store: Store, cache: TenantCache, otherwise: Finder): Finder {
  const reads: ColumnReads = {
    cache,
    passing: (search) => passing(store, search),
    postings: (columns, tenantId, forms) => postings(store, columns, tenantId, forms),
    vocabulary: (tenantId, letter) => vocabulary(store, tenantId, letter),
    compare: (columns, search, windows) => compare(store, columns, search, windows),
    meanings: (columns, tenantId, windows) => meanings(store, columns, tenantId, windows),
    yieldCpu: makeYieldCpu(),
  }
  return columnFinder(reads, otherwise)
}

async function passing(store: Store, { viewer, filters }: SearchQuery): Promise<Set<string> | null> {
  const conditions = filterConditions(filters)
  if (conditions.length === 0) return null
  const { sql, values } = both(...conditions)
  // The live memories of a tenant that pass.
  const rows = await store.rows<{ id: string }>(
    `select m.id from memories m where m.tenant_id = ? and m.status = 'active' and ${sql}`,
    [viewer.tenantId, ...values],
  )
  return new Set(rows.map(({ id }) => id))
}

async function postings(
  store: Store,
  columns: TenantColumns,
  tenantId: string,
  forms: readonly string[],
): Promise<Posting[]> {
  // Who holds each word, and how often: two texts for a word. A row for each memory would cost four times as much to
  // read as to find.
  const rows = await store.rows<{ word: string; ids: string; frequencies: string }>(
    `select word, string_agg(memory_id, ' ') as ids, string_agg(frequency::text, ' ') as frequencies
       from memory_words where tenant_id = ? and word = any(?::text[]) group by word`,
    [tenantId, forms],
  )
  const read = new Map(
    rows.map(({ word, ids, frequencies }) => {
      const counts = frequencies.split(' ')
      const places: number[] = []
      const kept: number[] = []
      ids.split(' ').forEach((id, i) => {
        const place = columns.placeOf(id)
        if (place === undefined) return
        places.push(place)
        kept.push(Number(counts[i]))
      })
      return [word, posting(places, kept)] as const
    }),
  )
  return forms.map((form) => read.get(form) ?? posting([], []))
}

async function vocabulary(store: Store, tenantId: string, letter: string): Promise<Vocabulary> {
  // Words of a tenant from a letter up to the next, with how many memories hold each.
  const rows = await store.rows<{ word: string; holding: number }>(
    `select word, count(*) as holding from memory_words where tenant_id = ? and word >= ? and word < ?
      group by word limit ?`,
    [tenantId, letter, String.fromCharCode(letter.charCodeAt(0) + 1), MAX_VOCABULARY],
  )
  return new Map(rows.map(({ word, holding }) => [word, holding]))
}

const idsOf = (columns: TenantColumns, windows: readonly Window[]): string[] =>
  windows.map(({ place }) => columns.ids[place]!)
const partsOf = (windows: readonly Window[]): string[] => windows.map(({ number }) => String(number))

async function compare(
  store: Store,
  columns: TenantColumns,
  { viewer, meaning, model }: SearchQuery,
  windows: readonly Window[],
): Promise<Compared[]> {
  if (windows.length === 0) return []
  // The vectors of given windows that the model made: in base64, which is shorter than the server's own form and read
  // faster.
  const rows = await store.rows<{ at: number; vector: string }>(
    `select w.at, encode(v.vector, 'base64') as vector
       from unnest(?::text[], ?::integer[]) with ordinality as w (id, part, at)
       join memory_vectors v on v.tenant_id = ? and v.memory_id = w.id and v.part = w.part where v.model = ?`,
    [idsOf(columns, windows), partsOf(windows), viewer.tenantId, model],
  )
  return rows.flatMap(({ at, vector: text }): Compared[] => {
    const vector = floatsOf(Buffer.from(text, 'base64'))
    if (vector.length !== meaning!.vector.length) return []
    return [{ window: windows[at - 1]!, cos: dot(meaning!.vector, vector), vector }]
  })
}

async function meanings(
  store: Store,
  columns: TenantColumns,
  tenantId: string,
  compared: readonly Compared[],
): Promise<Map<number, Meaning>> {
  if (compared.length === 0) return new Map()
  const windows = compared.map(({ window }) => window)
  // The tokens of given windows.
  const rows = await store.rows<{ at: number; tokens: string }>(
    `select w.at, encode(v.tokens, 'base64') as tokens
       from unnest(?::text[], ?::integer[]) with ordinality as w (id, part, at)
       join memory_vectors v on v.tenant_id = ? and v.memory_id = w.id and v.part = w.part`,
    [idsOf(columns, windows), partsOf(windows), tenantId],
  )
  return new Map(
    rows.map(({ at, tokens }) => {
      const { window, vector } = compared[at - 1]!
      return [window.place, { vector: vector!, tokens: signedOf(Buffer.from(tokens, 'base64')) }]
    }),
  )
}
