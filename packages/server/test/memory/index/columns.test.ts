// The columns of a tenant that the search thread caches: for how long, and that they follow commits.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { columnsFromCells, weightNames } from '../../../src/memory/index/memory-columns.ts'
import { postgresColumns } from '../../../src/memory/index/columns-postgres.ts'
import { posting } from '../../../src/memory/index/postings.ts'
import { postgresIndex } from '../../../src/memory/index/postgres-index.ts'
import { KEPT_MS, makeTenantCache, type ColumnSource } from '../../../src/memory/index/tenant-cache.ts'
import { TenantColumns } from '../../../src/memory/index/tenant-columns.ts'
import type { MemoryIndex, SearchQuery } from '../../../src/memory/index/memory-index.ts'
import { askedWords } from '../../../src/memory/index/terms.ts'
import { windowsByColumns, windowsByStatements } from '../../../src/memory/index/windows-to-compare.ts'
import { insertMemory } from '../../../src/memory/sql.ts'
import type { Db, Store } from '../../../src/store/db.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { postgres, POSTGRES_URL } from '../../support/engines.ts'
import { emptyStore } from '../../support/store.ts'
import { memoryRow } from '../memory-row.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')

function countingSource(): ColumnSource & { reads: number; updates: number } {
  const source = {
    reads: 0,
    updates: 0,
    read: async (tenantId: string) => {
      source.reads++
      const columns = new TenantColumns(weightNames)
      columns.put(
        columnsFromCells(tenantId, ['mem_1', 'agt_1', null, 'agent', 'semantic', null, 3, 1, 1, 0.5, NOW], null),
      )
      return columns
    },
    update: async () => {
      source.updates++
      return true
    },
  }
  return source
}

test('[RCL-50] columns not searched for ten minutes are evicted, and read again by the next search', async () => {
  let now = 0
  const source = countingSource()
  const cache = makeTenantCache(source, () => now)
  await cache.columnsOf('ten_1', 'model')
  await cache.columnsOf('ten_2', 'model')
  assert.ok(cache.bytes > 0)
  now = KEPT_MS - 1
  await cache.columnsOf('ten_1', 'model')
  assert.deepEqual([source.reads, source.updates], [2, 1])
  now = KEPT_MS + 1
  const before = cache.bytes
  cache.dropUnused()
  assert.equal(cache.bytes, before / 2, 'the tenant that was searched stays')
  now = 3 * KEPT_MS
  cache.dropUnused()
  assert.equal(cache.bytes, 0)
  await cache.columnsOf('ten_1', 'model')
  assert.equal(source.reads, 3)
  // Without a sweep in between they count as stale too: the log of changes may have been truncated since.
  now = 5 * KEPT_MS
  await cache.columnsOf('ten_1', 'model')
  assert.deepEqual([source.reads, source.updates], [4, 1])
})

test('[RCL-50] concurrent searches of a tenant read its columns once; that it is too large is remembered', async () => {
  const source = countingSource()
  const cache = makeTenantCache(source)
  const found = await Promise.all([1, 2, 3].map(() => cache.columnsOf('ten_1', 'model')))
  assert.deepEqual([source.reads, source.updates], [1, 2])
  assert.equal(new Set(found).size, 1)
  let asked = 0
  const large = makeTenantCache({ read: async () => (asked++, null), update: async () => false })
  assert.equal(await large.columnsOf('ten_1', 'model'), null)
  assert.equal(await large.columnsOf('ten_1', 'model'), null)
  assert.equal(asked, 1)
})

test('[RCL-51] cached vectors of windows are bounded, and dropped with their text', () => {
  const columns = new TenantColumns(weightNames)
  const row = (id: string) =>
    columnsFromCells('ten_1', [id, 'agt_1', null, 'agent', 'semantic', null, 3, 1, 1, 0.5, NOW], null)
  const meaning = { vector: new Float32Array(384), tokens: new Int8Array(64) }
  const empty = columns.meanings.bytes
  const at = columns.put(row('mem_1'))
  columns.addWindow('mem_1', 0, new Uint8Array(48))
  columns.meanings.put(at, 0, meaning)
  assert.equal(columns.meanings.get(at, 0), meaning)
  columns.dropWindows(new Set(['mem_1']))
  assert.equal(columns.meanings.get(at, 0), undefined)
  assert.equal(columns.meanings.bytes, empty)
  for (let part = 0; part < 20_000; part++) columns.meanings.put(1 + (part >> 10), part & 1_023, meaning)
  assert.ok(columns.meanings.bytes <= 16 * 1_048_576)
  assert.equal(columns.meanings.get(1, 0), undefined, 'the oldest went')
  assert.equal(columns.meanings.get(1 + (19_999 >> 10), 19_999 & 1_023), meaning)
})

test('[RCL-50] columns most of whose memories are gone are read again', () => {
  const columns = new TenantColumns(weightNames)
  const row = columnsFromCells('ten_1', ['mem_1', 'agt_1', null, 'agent', 'semantic', null, 3, 1, 1, 0.5, NOW], null)
  columns.put(row)
  for (let times = 0; times < 1_000; times++) {
    columns.remove('mem_1')
    assert.equal(columns.rowOf('mem_1'), undefined)
    columns.put(row)
  }
  assert.equal(columns.fragmented, false)
  columns.remove('mem_1')
  assert.equal(columns.fragmented, true)
})

test('[RCL-57] cached words are bounded by what they take, also words that no memory holds', () => {
  const columns = new TenantColumns(weightNames)
  const { postings } = columns
  const rows = Array.from({ length: 50_000 }, (_, row) => row)
  postings.put('common', posting(rows, rows))
  assert.ok(columns.bytes >= 50_000 * 6, 'they are part of what a tenant takes')
  for (let i = 0; i < 200_000; i++) {
    postings.put(`nobody${i}`, posting([], []))
    if (i % 1_000 === 0) assert.ok(postings.get('common'), 'a word that is asked for again and again stays')
  }
  assert.ok(columns.bytes <= 16 * 1_048_576, `${columns.bytes} bytes`)
  assert.equal(postings.get('nobody0'), undefined, 'the oldest went')
  assert.ok(postings.get('nobody199999'))
  // A new text that holds the words makes them larger, and a change of it smaller again.
  const words = Array.from({ length: 1_000 }, (_, i) => `nobody${199_000 + i}`)
  const before = postings.bytes
  postings.patch([{ row: 1, changed: false, counts: new Map(words.map((word) => [word, 1])) }])
  assert.ok(postings.bytes <= 16 * 1_048_576)
  postings.patch([{ row: 1, changed: true, counts: new Map([['common', 1]]) }])
  assert.ok(postings.bytes <= before)
  postings.clear()
  assert.equal(columns.bytes, 0)
})

test('[SRCH-14] few windows are compared exactly for few short memories, more for many or long ones', () => {
  for (const [memories, averageLength, byColumns, byStatements] of [
    [0, 0, 192, 200],
    [9_000, 30, 204, 200],
    [20_000, 30, 217, 400],
    [100_000, 30, 317, 500],
    [1_000_000, 30, 512, 500],
    [1_000, 240, 389, 400],
    [1_000, 5_000, 512, 500],
  ] as const) {
    assert.equal(windowsByColumns({ memories, averageLength }), byColumns)
    assert.equal(windowsByStatements({ memories, averageLength }), byStatements)
  }
})

if (POSTGRES_URL)
  describe('columns on PostgreSQL', () => {
    let store: Store
    let index: MemoryIndex
    let drop: () => Promise<void>
    before(async () => {
      const empty = await emptyStore(postgres)
      ;({ store, drop } = empty)
      await migrate(store, NOW)
      index = postgresIndex(store, empty.env['DATABASE_URL']!, () => {})
    })
    after(async () => {
      await index.close()
      await drop()
    })

    async function write(tx: Db, id: string, content: string): Promise<void> {
      const row = memoryRow({ tenant_id: 'ten_1', agent_id: 'agt_me', id }, NOW, { title: 'A note', content })
      await insertMemory(tx, row)
      await index.put(tx, row)
    }
    async function found(query: string): Promise<string[]> {
      const search: SearchQuery = {
        viewer: { kind: 'agent', id: 'agt_me', tenantId: 'ten_1', teamId: null },
        ...{ scope: null, type: null, minConfidence: 0, filters: {}, limit: 10, now: NOW, meaning: null, model: 'm' },
        words: askedWords(query).words,
      }
      return (await index.find(search)).map(({ id }) => id).sort()
    }

    test('[RCL-51] a transaction that begins first and commits last is seen as soon as it has committed', async () => {
      await store.tx((tx) => write(tx, 'mem_1', 'The ferry leaves at seven.'))
      assert.deepEqual(await found('ferry'), ['mem_1'])
      let commit = (): void => {}
      const held = new Promise<void>((resolve) => (commit = resolve))
      let written = (): void => {}
      const hasWritten = new Promise<void>((resolve) => (written = resolve))
      const early = store.tx(async (tx) => {
        await write(tx, 'mem_2', 'The ferry was late.')
        // The transaction has its id from here on.
        await tx.rows('select pg_current_xact_id()')
        written()
        await held
      })
      await hasWritten
      await store.tx((tx) => write(tx, 'mem_3', 'The ferry is full.'))
      assert.deepEqual(await found('ferry'), ['mem_1', 'mem_3'])
      commit()
      await early
      assert.deepEqual(await found('ferry'), ['mem_1', 'mem_2', 'mem_3'])
      assert.deepEqual(await found('late'), ['mem_2'])
    })

    test('[RCL-51] a removed memory is no longer found', async () => {
      await store.tx((tx) => index.remove(tx, 'ten_1', 'mem_3'))
      assert.deepEqual(await found('ferry'), ['mem_1', 'mem_2'])
    })

    test('[RCL-52] nothing is cached for a tenant with too many memories', async () => {
      assert.equal(await postgresColumns(store, 1).read('ten_1', 'm'), null)
      assert.equal((await postgresColumns(store, 2).read('ten_1', 'm'))!.ids.length, 2)
    })
  })
