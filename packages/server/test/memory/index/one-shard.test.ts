// Searches run in a thread of their own, past the store that the other tests watch: each of their statements stays on
// the shard of its tenant too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { neverYield } from '../../../src/kernel/yield-cpu.ts'
import { postgresColumns } from '../../../src/memory/index/columns-postgres.ts'
import { lowerContradicted } from '../../../src/memory/index/contradict.ts'
import { postgresColumnFinder } from '../../../src/memory/index/find-postgres-columns.ts'
import { postgresFinder } from '../../../src/memory/index/find-postgres.ts'
import { idsHolding } from '../../../src/memory/index/holds-text.ts'
import type { Finder, SearchQuery } from '../../../src/memory/index/memory-index.ts'
import { postgresIndex } from '../../../src/memory/index/postgres-index.ts'
import { searchFingerprintOf } from '../../../src/memory/index/search-fingerprint.ts'
import { makeTenantCache } from '../../../src/memory/index/tenant-cache.ts'
import { askedWords } from '../../../src/memory/index/terms.ts'
import { insertMemory } from '../../../src/memory/sql.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { postgres, POSTGRES_URL } from '../../support/engines.ts'
import { recorded } from '../../support/shards.ts'
import { emptyStore } from '../../support/store.ts'
import { memoryRow } from '../memory-row.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')
const MODEL = 'a-model'
const vector = Float32Array.from({ length: 384 }, (_, i) => (i === 0 ? 1 : 0))

const asked: SearchQuery = {
  viewer: { kind: 'agent', id: 'agt_me', tenantId: 'ten_1', teamId: 'blue' },
  scope: 'agent',
  type: 'semantic',
  minConfidence: 0.1,
  filters: { projectId: 'p', sourceEventId: 'e', createdAfter: 1, createdBefore: NOW + 1, metadata: { colour: 'red' } },
  limit: 10,
  now: NOW,
  words: askedWords('pumps and vlaves').words,
  meaning: { vector, tokens: new Int8Array() },
  model: MODEL,
}
const SEARCHES: SearchQuery[] = [
  asked,
  { ...asked, scope: null, type: null, filters: {} },
  { ...asked, filters: {}, meaning: null },
  { ...asked, filters: {}, words: [] },
]

test('[SCL-4] every statement of a search names its tenant', {
  skip: !POSTGRES_URL && 'PostgreSQL is missing',
}, async (t) => {
  const { store, env, drop } = await emptyStore(postgres)
  t.after(drop)
  await migrate(store, NOW)
  const index = postgresIndex(store, env['DATABASE_URL']!, () => {})
  t.after(() => index.close())
  await index.prepare()
  const ids = ['mem_1', 'mem_2', 'mem_3']
  for (const id of ids)
    await store.tx(async (tx) => {
      const more = { content: 'Pumps have valves', metadata: '{"colour":"red"}', project_id: 'p', source_event_id: 'e' }
      const row = memoryRow({ tenant_id: 'ten_1', agent_id: 'agt_me', id }, NOW, more)
      await insertMemory(tx, row)
      await index.put(tx, row, undefined, { model: MODEL, windows: [{ vector, tokens: new Int8Array() }] })
    })
  const watched = recorded(store)
  const bySql = postgresFinder(watched.store)
  const cache = makeTenantCache(postgresColumns(watched.store))
  const finders: Finder[] = [bySql, postgresColumnFinder(watched.store, cache, bySql)]
  for (const finder of finders)
    for (const search of SEARCHES) {
      const { ranked } = await finder.find(search)
      assert.equal(ranked.length, 3)
      await lowerContradicted(watched.store, 'ten_1', ranked, 10)
    }
  for (const finder of finders) assert.equal((await finder.nearest({ ...asked, meaning: asked.meaning! })).length, 3)
  // Changed, so that the kept columns are brought up to date.
  await store.tx((tx) => tx.run("update memories set confidence = 0.5 where tenant_id = ? and id = 'mem_1'", ['ten_1']))
  await finders[1]!.find(asked)
  assert.ok(await searchFingerprintOf(watched.store, cache, 'ten_1', MODEL))
  for (const isGone of [false, true])
    await idsHolding(watched.store, { tenantId: 'ten_1', ids: ids.join(' '), needle: 'valves', isGone }, neverYield)
  assert.deepEqual(await watched.check(), [])
})
