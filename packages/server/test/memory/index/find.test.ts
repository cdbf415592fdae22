// Every way to find the nearest vectors agrees with a comparison of all vectors: SQLite with sqlite-vec, PostgreSQL by
// signatures, and pgvector, exactly and through HNSW.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { idf, idfSql, saturation, saturationSql } from '../../../src/memory/index/bm25.ts'
import { signatureOf, type EmbeddedWindow } from '../../../src/memory/embed/embedder.ts'
import { postgresFinder } from '../../../src/memory/index/find-postgres.ts'
import { postgresIndex } from '../../../src/memory/index/postgres-index.ts'
import { sqliteIndex } from '../../../src/memory/index/sqlite-index.ts'
import type { Finder, MemoryIndex, SearchQuery } from '../../../src/memory/index/memory-index.ts'
import { dot, rank, type Candidate } from '../../../src/memory/rank.ts'
import { insertMemory } from '../../../src/memory/sql.ts'
import type { Store, Value } from '../../../src/store/db.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { databaseFile } from '../../../src/store/data-directory.ts'
import { postgres, POSTGRES_URL, sqlite } from '../../support/engines.ts'
import { emptyStore } from '../../support/store.ts'
import { memoryRow } from '../memory-row.ts'
import { pgliteStore } from './pglite-store.ts'

const SIZE = 800
/** Fewer, because PostgreSQL in WebAssembly takes 20 ms for a memory. */
const SIZE_IN_WASM = 200
const QUERIES = 20
const DIMENSIONS = 384
const NOW = Date.parse('2030-01-01T00:00:00Z')
const MODEL = 'a-model'

// The same numbers in every run.
let seed = 7
const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
const normal = (): number => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
function near(centre: Float32Array | null, spread: number): Float32Array {
  const vector = Float32Array.from({ length: DIMENSIONS }, (_, i) => (centre?.[i] ?? 0) + spread * normal())
  const norm = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0))
  return vector.map((x) => x / norm)
}
// Vectors like those of texts: subjects, and statements about them.
const subjects = Array.from({ length: 40 }, () => near(null, 1))
const about = (): Float32Array => near(subjects[Math.floor(random() * subjects.length)]!, 0.05)
const NO_TOKENS = new Int8Array(0)

const memories = Array.from({ length: SIZE }, (_, i) => ({
  id: `mem_${String(i).padStart(26, '0')}`,
  owner: i % 3 === 0 ? 'agt_other' : 'agt_me',
  confidence: i % 2 ? 1 : 0.4,
  // Every tenth has three windows.
  windows: Array.from({ length: i % 10 === 0 ? 3 : 1 }, (): EmbeddedWindow => ({ vector: about(), tokens: NO_TOKENS })),
}))
const queries = Array.from({ length: QUERIES }, about)

const searchFor = (vector: Float32Array, minConfidence: number): SearchQuery => ({
  viewer: { kind: 'agent', id: 'agt_me', tenantId: 'ten_1', teamId: null },
  scope: null,
  type: null,
  minConfidence,
  filters: {},
  limit: 10,
  now: NOW,
  words: [],
  meaning: { vector, tokens: NO_TOKENS },
  model: MODEL,
})

/** Ranks everything that the viewer may see. */
function exact(among: number, vector: Float32Array, minConfidence: number): string[] {
  const candidates = memories
    .slice(0, among)
    .filter(({ owner, confidence }) => owner === 'agt_me' && confidence >= minConfidence)
    .map(({ id, confidence, windows }): Candidate => {
      const best = windows.toSorted((a, b) => dot(vector, b.vector) - dot(vector, a.vector))[0]!
      return { id, frequencies: [], length: 6, meaning: best, confidence, importance: 0.5, freshAt: NOW }
    })
  return rank({ idf: [], averageLength: 6, memories: among }, { vector, tokens: NO_TOKENS }, candidates, NOW)
    .slice(0, 10)
    .map(({ id }) => id)
}

async function fill({ store, index, size }: Opened): Promise<void> {
  await migrate(store, NOW)
  await index.prepare()
  for (let first = 0; first < size; first += 100) {
    await store.tx(async (tx) => {
      for (const { id, owner, confidence, windows } of memories.slice(first, first + 100)) {
        const row = memoryRow({ tenant_id: 'ten_1', agent_id: owner, id }, NOW, { confidence, content: 'word' })
        await insertMemory(tx, row)
        await index.put(tx, row, undefined, { model: MODEL, windows })
      }
    })
  }
}

async function recallOf(find: MemoryIndex['find'], among: number): Promise<number> {
  let found = 0
  for (const [i, query] of queries.entries()) {
    const minConfidence = i % 2 ? 1 : 0 // one that half of the memories just have
    const ids = new Set((await find(searchFor(query, minConfidence))).map(({ id }) => id))
    assert.equal(ids.size, 10)
    found += exact(among, query, minConfidence).filter((id) => ids.has(id)).length
  }
  return found / (QUERIES * 10)
}

/** Runs a finder without its thread. */
const unthreaded = (finder: Finder): Pick<MemoryIndex, 'find' | 'nearest'> => ({
  find: async (search) =>
    (await finder.find(search)).ranked.map(({ relevance, ...one }) => ({ ...one, score: relevance })),
  nearest: finder.nearest,
})

interface Opened {
  store: Store
  index: MemoryIndex
  /** How many memories it is filled with. */
  size: number
  drop(): Promise<void>
}

const WAYS: Record<string, () => Promise<Opened>> = {
  'sqlite-vec': async () => {
    const { store, config, drop } = await emptyStore(sqlite)
    return { store, index: sqliteIndex(store, databaseFile(config.dataDir), () => {}), size: SIZE, drop }
  },
  ...(POSTGRES_URL && {
    'PostgreSQL as the server has it': async () => {
      const { store, env, drop } = await emptyStore(postgres)
      return { store, index: postgresIndex(store, env['DATABASE_URL']!, () => {}), size: SIZE, drop }
    },
    'PostgreSQL without columns': async () => {
      const { store, env, drop } = await emptyStore(postgres)
      const index = postgresIndex(store, env['DATABASE_URL']!, () => {})
      return { store, index: { ...index, ...unthreaded(postgresFinder(store)) }, size: SIZE, drop }
    },
  }),
  pgvector: async () => {
    const store = await pgliteStore()
    // The store lives in this process, where no search thread can reach it, so it is searched from here.
    return {
      store,
      index: { ...postgresIndex(store, '', () => {}), ...unthreaded(postgresFinder(store)) },
      size: SIZE_IN_WASM,
      drop: store.close,
    }
  },
}

for (const [name, open] of Object.entries(WAYS)) {
  describe(name, () => {
    let opened: Opened
    before(async () => void (opened = await open()))
    after(async () => {
      const { index, drop } = opened
      await index.close()
      await drop()
    })

    test('[SRCH-14] finds at least 0.98 of the exact top ten that viewer and filter allow', async () => {
      await fill(opened)
      const recall = await recallOf(opened.index.find, opened.size)
      assert.ok(recall >= 0.98, `${recall}`)
    })

    test('[KEP-11] the nearest are those of the highest cosine, of what the viewer sees alone', async () => {
      const { index, size } = opened
      for (const query of queries) {
        const { viewer, now, model } = searchFor(query, 0)
        const found = await index.nearest({
          viewer,
          limit: 5,
          now,
          model,
          meaning: { vector: query, tokens: NO_TOKENS },
        })
        const expected = memories
          .slice(0, size)
          .filter(({ owner }) => owner === 'agt_me')
          .map(({ id, windows }) => ({ id, cos: Math.max(...windows.map(({ vector }) => dot(query, vector))) }))
          .sort((a, b) => b.cos - a.cos)
          .slice(0, 5)
        for (const [i, { id, cos }] of found.entries()) {
          assert.ok(Math.abs(cos - expected[i]!.cos) < 1e-4, `${id}: ${cos} and ${expected[i]!.cos}`)
          assert.ok(expected.some((one) => one.id === id))
        }
        assert.equal(found.length, 5)
      }
    })

    test('[KEP-12] with a least cosine, those that have it are found', async () => {
      const { index, size } = opened
      for (const query of queries) {
        const { viewer, now, model } = searchFor(query, 0)
        const meaning = { vector: query, tokens: NO_TOKENS }
        const cosines = memories
          .slice(0, size)
          .filter(({ owner }) => owner === 'agt_me')
          .map(({ windows }) => Math.max(...windows.map(({ vector }) => dot(query, vector))))
          .sort((a, b) => b - a)
        const leastCos = (cosines[2]! + cosines[3]!) / 2
        const found = await index.nearest({ viewer, limit: 5, now, model, meaning, leastCos })
        const wanted = found.filter(({ cos }) => cos >= leastCos)
        assert.equal(wanted.length, 3)
      }
    })

    if (name === 'pgvector') {
      test('[RCL-12] BM25 is the same as a function and as SQL', async () => {
        const earned = saturationSql('f', 'l', 'a')
        for (const [memories, holding, frequency, length, average] of [
          [1, 1, 1, 1, 1],
          [1000, 3, 2, 40, 22.5],
          [50_000, 49_999, 7, 9000, 116],
        ] as const) {
          const [row] = await opened.store.rows<{ idf: number; saturation: number }>(
            `select ${idfSql('n', 'h')} as idf, ${earned.sql} as saturation
               from (select ?::double precision as n, ?::double precision as h, ?::double precision as f, ?::double precision as l, ?::double precision as a) x`,
            [...earned.values, memories, holding, frequency, length, average],
          )
          assert.ok(Math.abs(row!.idf - idf(memories, holding)) < 1e-12)
          assert.ok(Math.abs(row!.saturation - saturation(frequency, length, average)) < 1e-12)
        }
      })

      test('[SRCH-14] finds as much for a tenant that is large enough for HNSW', async () => {
        const { store, size } = opened
        const [row] = await store.rows<{ n: number }>(
          'select count(*) as n from memory_vectors where embedding is not null',
        )
        assert.equal(row!.n, size + (2 * size) / 10)
        let transactions = 0
        const counting: Store = {
          ...store,
          tx(work) {
            transactions++
            return store.tx(work)
          },
        }
        const { find } = unthreaded(postgresFinder(counting, 100))
        // The first search has the index built and does not wait for it.
        await find(searchFor(queries[0]!, 0))
        assert.equal(transactions, 1, 'the extension was looked for')
        assert.deepEqual(
          await store.rows("select indisvalid from pg_index where indexrelid = 'memory_vectors_hnsw_384'::regclass"),
          [{ indisvalid: true }],
        )
        const recall = await recallOf(find, size)
        assert.ok(recall >= 0.98, `${recall}`)
        assert.ok(transactions > 1, 'by the index')
      })

      test('[RCL-74] a tenant is searched while its index cannot be built, and vectors too long for one are compared', async () => {
        const { store } = opened
        const asked: string[] = []
        const failing: Store = {
          ...store,
          async rows<R>(sql: string, values?: readonly Value[]) {
            // As if nothing had been built.
            return /pg_stat_progress/.test(sql) ? [] : store.rows<R>(sql, values)
          },
          async runAlone(sql) {
            asked.push(sql)
            throw new Error('no room for it')
          },
        }
        const { find } = unthreaded(postgresFinder(failing, 1))
        for (const query of queries.slice(0, 3)) assert.equal((await find(searchFor(query, 0))).length, 10)
        assert.equal(asked.length, 1, 'it is not tried with every search')
        const long = new Float32Array(2_048).fill(1 / Math.sqrt(2_048))
        const [row] = await store.rows<{ memory_id: string; version: number }>(
          'select memory_id, version from memory_recall where memory_id = ?',
          [memories[1]!.id],
        )
        const windows = [{ vector: long, tokens: NO_TOKENS }]
        const kept = { tenantId: 'ten_1', memoryId: row!.memory_id, version: row!.version, windows }
        assert.ok(await store.tx((tx) => opened.index.keep(tx, 'long', kept)))
        assert.equal((await find({ ...searchFor(long, 0), model: 'long' })).length, 1)
        assert.equal(asked.length, 1)
      })
    }

    test('[EMB-2] vectors of another model, or of another length, are not compared', async () => {
      const { index } = opened
      assert.deepEqual(await index.find({ ...searchFor(queries[0]!, 0), model: 'another' }), [])
      assert.deepEqual(await index.find(searchFor(queries[0]!.slice(0, 100), 0)), [])
    })
  })
}

test('a signature has a bit for each number, set where it is positive', () => {
  assert.deepEqual([...signatureOf(Float32Array.from([1, -1, 0.5, 0, 0, 0, 0, -2, 3]))], [0b101, 1])
})
