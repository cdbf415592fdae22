// Search on PostgreSQL in SQL alone. Words have a row for each word of a memory. Vectors are compared by pgvector where
// the server has it, else by signatures, the signs of a vector's numbers: they are compared bit by bit, and the best
// windows then exactly. Runs in the search thread: one search returns a megabyte of vectors, and parsing it delayed
// events by 12 ms.
import { neverYield } from '../../kernel/yield-cpu.ts'
import type { Store } from '../../store/db.ts'
import { idf, idfSql, saturationSql, type Words } from './bm25.ts'
import { bitsOf, floatsOf, signedOf } from '../embed/embedder.ts'
import { wantedSql } from './filter-conditions.ts'
import { WEIGHTS, weightNames } from './memory-columns.ts'
import { asSearch, foundWith, likest, type Finder, type SearchQuery } from './memory-index.ts'
import { pgvector, type Pgvector, type Window } from './pgvector.ts'
import { windowsByStatements } from './windows-to-compare.ts'
import { dot, CANDIDATES, candidatesFor, rank, type Candidate, type Meaning, type Weights } from '../rank.ts'
import { seenBy } from '../see.ts'

const weightColumns = Object.values(WEIGHTS).join(', ')

/** How many windows of a memory that was found by its words are compared exactly. */
const WINDOWS = 3

interface WordRow {
  kind: 'all' | 'word' | 'hit'
  /** The index of the word among the words of the query. */
  word: number | null
  memory_id: string | null
  /** By kind: how many memories the viewer sees, how many of them hold the word, how often the memory holds it. */
  amount: number | null
  average: number | null
}

/** `small` is how many windows a tenant may have before pgvector's HNSW is used. */
export function postgresFinder(store: Store, small?: number): Finder {
  const extension = pgvector(store, small)
  return {
    async find(search) {
      const { meaning, viewer, now, limit, time = null } = search
      // In sequence: a search uses one CPU of the server and leaves the others to the events.
      const { words, frequencies } = await byWords(store, search)
      const picked = await byMeaning(store, extension, search, windowsByStatements(words))
      const best = nearestWindows(meaning, picked)
      const nearest = [...best]
        .sort((a, b) => b[1].cos - a[1].cos)
        .slice(0, candidatesFor(limit))
        .map(([id]) => id)
      const others = [...frequencies.keys()].filter((id) => !best.has(id))
      for (const [id, window] of nearestWindows(meaning, await windowsOf(store, search, others))) best.set(id, window)
      const ids = [...new Set([...frequencies.keys(), ...nearest])]
      const rows = await load(
        store,
        viewer.tenantId,
        ids,
        ids.map((id) => String(best.get(id)?.part ?? -1)),
      )
      const none = new Float64Array(words.idf.length)
      const candidates = rows.map(({ id, length, tokens, weights }): Candidate => {
        const window = best.get(id)
        return {
          id,
          frequencies: frequencies.get(id) ?? none,
          length,
          meaning:
            window && tokens !== null
              ? { vector: window.vector, tokens: signedOf(Buffer.from(tokens, 'base64')) }
              : null,
          ...(Object.fromEntries(weightNames.map((name, i) => [name, weights[i]!])) as unknown as Weights),
        }
      })
      return foundWith(words, meaning, rank(words, meaning, candidates, now, neverYield, time).slice(0, limit))
    },
    async nearest(query) {
      const search = asSearch(query)
      const { words } = await byWords(store, search)
      const best = nearestWindows(query.meaning, await byMeaning(store, extension, search, windowsByStatements(words)))
      return likest(
        [...best].map(([id, { cos }]) => ({ id, cos })),
        query.limit,
      )
    },
  }
}

interface NearWindow {
  part: number
  vector: Float32Array
  cos: number
}

/** Returns the nearest of these windows of each memory. */
function nearestWindows(meaning: Meaning | null, windows: readonly Window[]): Map<string, NearWindow> {
  const best = new Map<string, NearWindow>()
  for (const { memory_id, part, vector } of windows) {
    const floats = floatsOf(Buffer.from(vector, 'base64'))
    const cos = dot(meaning!.vector, floats)
    if (cos > (best.get(memory_id)?.cos ?? -Infinity)) best.set(memory_id, { part, vector: floats, cos })
  }
  return best
}

async function byWords(store: Store, search: SearchQuery) {
  const { viewer } = search
  const seen = seenBy(search.viewer, search.now)
  const wanted = wantedSql(search)
  /** Each form with the index of its word. */
  const forms = search.words.flatMap((word, i) => word.map((form) => [form, String(i)] as const))
  const earned = saturationSql('h.frequency', 'h.length', 'o.average')
  // One statement returns how many memories the viewer sees and their mean length, how many of them hold each word of
  // the query, and the words of the best wanted memories.
  const rows = await store.rows<WordRow>(
    `with asked as (
       select form, word from unnest(?::text[], ?::integer[]) as a (form, word)
     ), hits as materialized (
       select a.word, w.memory_id, max(w.frequency) as frequency, max(w.length) as length, bool_or(${wanted.sql}) as wanted
       from memory_words w join asked a on a.form = w.word join memories m on m.tenant_id = w.tenant_id and m.id = w.memory_id
       where w.tenant_id = ? and w.word = any(?::text[]) and ${seen.sql}
       group by a.word, w.memory_id
     ), overall as (
       select count(*) as n, coalesce(avg(r.length), 0)::double precision as average
       from memories m join memory_recall r on r.tenant_id = m.tenant_id and r.memory_id = m.id where m.tenant_id = ? and ${seen.sql}
     ), holding as (
       select word, count(*) as n, ${idfSql('max(o.n)', 'count(*)')} as weight
       from hits cross join overall o group by word
     ), best as (
       select h.memory_id
       from hits h join holding d on d.word = h.word cross join overall o where h.wanted group by h.memory_id
       order by sum(d.weight * ${earned.sql}) desc, h.memory_id collate "C" desc
       limit ?
     )
     select 'all' as kind, null::integer as word, null as memory_id, n as amount, average from overall
     union all select 'word', word, null, n, null from holding
     union all select 'hit', h.word, h.memory_id, h.frequency, null from best join hits h on h.memory_id = best.memory_id`,
    [
      forms.map(([form]) => form),
      forms.map(([, word]) => word),
      ...wanted.values,
      viewer.tenantId,
      forms.map(([form]) => form),
      ...seen.values,
      viewer.tenantId,
      ...seen.values,
      ...earned.values,
      CANDIDATES,
    ],
  )
  const overall = rows.find(({ kind }) => kind === 'all')!
  const memories = overall.amount!
  const holding = new Map(rows.filter(({ kind }) => kind === 'word').map(({ word, amount }) => [word, amount!]))
  const words: Words = {
    idf: search.words.map((_, word) => idf(memories, holding.get(word) ?? 0)),
    averageLength: overall.average!,
    memories,
  }
  const frequencies = new Map<string, Float64Array>()
  for (const { kind, word, memory_id, amount } of rows) {
    if (kind !== 'hit') continue
    const counts = frequencies.get(memory_id!) ?? new Float64Array(search.words.length)
    counts[word!] = amount!
    frequencies.set(memory_id!, counts)
  }
  return { words, frequencies }
}

async function byMeaning(store: Store, extension: Pgvector, search: SearchQuery, many: number): Promise<Window[]> {
  const { viewer, meaning, model } = search
  if (meaning === null) return []
  const near = await extension.nearest(search, many)
  if (near) return near
  const seen = seenBy(search.viewer, search.now)
  const wanted = wantedSql(search)
  // The windows of wanted memories that share the most signs with the query. Their vectors are read after they are
  // chosen.
  return store.rows<Window>(
    `select memory_id, part, encode(vector, 'base64') as vector from (
       select v.memory_id, v.part, v.vector from memory_vectors v join memories m on m.tenant_id = v.tenant_id and m.id = v.memory_id
       where v.tenant_id = ? and v.model = ? and bit_length(v.signature) = ? and ${seen.sql} and ${wanted.sql}
       order by bit_count(v.signature # ?::bit varying), v.memory_id collate "C", v.part limit ?
     ) w`,
    [viewer.tenantId, model, meaning.vector.length, ...seen.values, ...wanted.values, bitsOf(meaning.vector), many],
  )
}

/** Returns the windows of the given memories that share the most signs with the query. */
const windowsOf = (store: Store, { viewer, meaning, model }: SearchQuery, ids: readonly string[]): Promise<Window[]> =>
  meaning === null || ids.length === 0
    ? Promise.resolve([])
    : store.rows<Window>(
        `select memory_id, part, encode(vector, 'base64') as vector from (
           select memory_id, part, vector, row_number() over (partition by memory_id order by bit_count(signature # ?::bit varying)) as nearest
           from memory_vectors where tenant_id = ? and model = ? and bit_length(signature) = ? and memory_id = any(?::text[])
         ) w where nearest <= ?`,
        [bitsOf(meaning.vector), viewer.tenantId, model, meaning.vector.length, ids, WINDOWS],
      )

interface CandidateRow {
  id: string
  length: number
  /** In the order of WEIGHTS. */
  weights: number[]
  /** base64 */
  tokens: string | null
}

/** Returns the weights of the given memories, and the tokens of one window of each. */
const load = (
  store: Store,
  tenantId: string,
  ids: readonly string[],
  parts: readonly string[],
): Promise<CandidateRow[]> =>
  store.rows<CandidateRow>(
    `select m.id, r.length, array[${weightColumns}]::double precision[] as weights, encode(v.tokens, 'base64') as tokens
     from unnest(?::text[], ?::integer[]) as w (id, part)
     join memories m on m.tenant_id = ? and m.id = w.id
     join memory_recall r on r.tenant_id = m.tenant_id and r.memory_id = m.id
     left join memory_vectors v on v.tenant_id = m.tenant_id and v.memory_id = m.id and v.part = w.part`,
    [ids, parts, tenantId],
  )
