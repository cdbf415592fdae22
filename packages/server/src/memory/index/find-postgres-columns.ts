// Search on PostgreSQL over columns that the search thread keeps in memory, as on the embedded store. In SQL alone, a
// search among 10,000 memories took 110 ms of CPU time on the server, most of it to join words and signatures with the
// rows that say who may see them.
import { makeYieldCpu } from '../../kernel/yield-cpu.ts'
import type { Store } from '../../store/db.ts'
import { floatsOf, signedOf } from '../embed/embedder.ts'
import { dot, type Meaning } from '../rank.ts'
import { passingQuery } from './filter-conditions.ts'
import { columnFinder, type ColumnReads, type Compared } from './find-columns.ts'
import type { Finder, SearchQuery } from './memory-index.ts'
import { posting, type Posting } from './postings.ts'
import { MAX_VOCABULARY, type Vocabulary } from './spelling.ts'
import type { TenantCache } from './tenant-cache.ts'
import type { Window } from './signatures.ts'
import type { TenantColumns } from './tenant-columns.ts'

/** `fallback` searches tenants that are too large for columns. */
export function postgresColumnFinder(store: Store, cache: TenantCache, fallback: Finder): Finder {
  const reads: ColumnReads = {
    cache,
    passing: (search) => passing(store, search),
    postings: (columns, tenantId, forms) => postings(store, columns, tenantId, forms),
    vocabulary: (tenantId, letter) => vocabulary(store, tenantId, letter),
    compare: (columns, search, windows) => compare(store, columns, search, windows),
    meanings: async (_, windows) => new Map(windows.map(({ window, meaning }) => [window.row, meaning!])),
    yieldCpu: makeYieldCpu(),
  }
  return columnFinder(reads, fallback)
}

async function passing(store: Store, search: SearchQuery): Promise<Set<string> | null> {
  const query = passingQuery(search)
  if (!query) return null
  return new Set((await store.rows<{ id: string }>(query.sql, query.values)).map(({ id }) => id))
}

async function postings(
  store: Store,
  columns: TenantColumns,
  tenantId: string,
  forms: readonly string[],
): Promise<Posting[]> {
  // The memories that hold each word, and how often, as two strings per word. A row for each memory would cost four
  // times as much to read as to find.
  const rows = await store.rows<{ word: string; ids: string; frequencies: string }>(
    `select word, string_agg(memory_id, ' ') as ids, string_agg(frequency::text, ' ') as frequencies
       from memory_words where tenant_id = ? and word = any(?::text[]) group by word`,
    [tenantId, forms],
  )
  const read = new Map(
    rows.map(({ word, ids, frequencies }) => {
      const counts = frequencies.split(' ')
      const found: number[] = []
      const kept: number[] = []
      ids.split(' ').forEach((id, i) => {
        const row = columns.rowOf(id)
        if (row === undefined) return
        found.push(row)
        kept.push(Number(counts[i]))
      })
      return [word, posting(found, kept)] as const
    }),
  )
  return forms.map((form) => read.get(form) ?? posting([], []))
}

async function vocabulary(store: Store, tenantId: string, letter: string): Promise<Vocabulary> {
  // The words of a tenant that begin with a letter, with how many memories hold each.
  const rows = await store.rows<{ word: string; holding: number }>(
    `select word, count(*) as holding from memory_words where tenant_id = ? and word >= ? and word < ?
      group by word limit ?`,
    [tenantId, letter, String.fromCharCode(letter.charCodeAt(0) + 1), MAX_VOCABULARY],
  )
  return new Map(rows.map(({ word, holding }) => [word, holding]))
}

const idsOf = (columns: TenantColumns, windows: readonly Window[]): string[] =>
  windows.map(({ row }) => columns.ids[row]!)
const partsOf = (windows: readonly Window[]): string[] => windows.map(({ number }) => String(number))

async function compare(
  store: Store,
  columns: TenantColumns,
  { viewer, meaning, model }: SearchQuery,
  windows: readonly Window[],
): Promise<Compared[]> {
  const compared: Compared[] = []
  const note = (window: Window, found: Meaning): void => {
    if (found.vector.length !== meaning!.vector.length) return
    compared.push({ window, cos: dot(meaning!.vector, found.vector), meaning: found })
  }
  const missing = windows.filter((window) => {
    const kept = columns.meanings.get(window.row, window.number)
    if (kept) note(window, kept)
    return !kept
  })
  if (missing.length === 0) return compared
  const changes = columns.windowChanges
  // The vectors of the windows, if this model made them; in base64, which is shorter than the server's own format and
  // parsed faster.
  const rows = await store.rows<{ at: number; vector: string; tokens: string }>(
    `select w.at, encode(v.vector, 'base64') as vector, encode(v.tokens, 'base64') as tokens
       from unnest(?::text[], ?::integer[]) with ordinality as w (id, part, at)
       join memory_vectors v on v.tenant_id = ? and v.memory_id = w.id and v.part = w.part where v.model = ?`,
    [idsOf(columns, missing), partsOf(missing), viewer.tenantId, model],
  )
  for (const { at, vector, tokens } of rows) {
    const window = missing[at - 1]!
    const read = { vector: floatsOf(bytesIn(vector)), tokens: signedOf(bytesIn(tokens)) }
    note(window, read)
    if (columns.windowChanges === changes) columns.meanings.put(window.row, window.number, read)
  }
  return compared
}

/** Copies the bytes into their own buffer: a cached vector must not keep alive a shared buffer eight times its size. */
const bytesIn = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
