// A page of many memories, which are counted in steps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageMemories, STEP } from '../../src/memory/page-memories.ts'
import { disjointGone, disjointSeenBy, maySee, narrowed, type Viewer } from '../../src/memory/see.ts'
import { insertMemory, type MemoryRow } from '../../src/memory/sql.ts'
import type { Db } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { START } from '../support/fake-clock.ts'
import { serviceForSuite } from '../support/service.ts'
import { memoryRow } from './memory-row.ts'

const COUNT = 2 * STEP + 300

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[MEM-12] [SAFE-71] many memories are counted in steps: every page and total is exact', async () => {
    const { id: tenant_id } = await service.tenant()
    const all = Array.from({ length: COUNT }, (_, i): MemoryRow => {
      const id = `mem_${String(COUNT - i).padStart(26, '0')}`
      return memoryRow({ tenant_id, agent_id: `agt_${i % 3}`, id }, 1, {
        team_id: 'blue',
        // The team has three of four, and a few are of everybody.
        scope: i % 4 > 0 ? 'team' : i % 64 === 0 ? 'institutional' : 'agent',
        type: i % 1_001 === 0 ? 'entity' : 'semantic',
        expires_at: i % 7 === 0 ? START - 1 : null,
        status: i % 11 === 0 ? 'deleted' : 'active',
      })
    })
    for (let i = 0; i < COUNT; i += 500)
      await service.store.tx(async (tx) => {
        await Promise.all(all.slice(i, i + 500).map((row) => insertMemory(tx, row)))
      })
    const viewer: Viewer = { kind: 'agent', id: 'agt_1', tenantId: tenant_id, teamId: 'blue' }
    const admin: Viewer = { ...viewer, kind: 'org_admin' }
    for (const who of [viewer, admin])
      for (const type of [null, 'entity', 'reflection'])
        for (const [offset, limit] of [
          [0, 50],
          [STEP - 20, 40],
          [COUNT - 3, 10],
        ] as const) {
          const ofType = type === null ? [] : [{ sql: 'm.type = ?', values: [type] }]
          const ways = disjointSeenBy(who, START, undefined).map((way) => narrowed(way, ...ofType))
          const seen = all.filter((row) => maySee(who, row, START) && (type === null || row.type === type))
          let pauses = 0
          const { rows, total } = await pageMemories(
            service.store,
            tenant_id,
            ways,
            offset,
            limit,
            async () => void pauses++,
          )
          assert.equal(total, seen.length)
          assert.deepEqual(
            rows.map(({ id }) => id),
            seen.slice(offset, offset + limit).map(({ id }) => id),
          )
          // As many whatever the filter lets through: a step ends by what it looks at.
          assert.equal(pauses, engine.name === 'sqlite' ? 1 : 0)
        }
    // The index of those past their expiry has another order, and nothing of it is read twice.
    const deleted = all.filter((row) => row.status === 'deleted')
    const expired = all.filter((row) => row.status === 'active' && row.expires_at !== null)
    for (const [status, gone] of [
      ['deleted', deleted],
      ['expired', expired],
    ] as const) {
      let statements = 0
      const rows: Db['rows'] = (...asked) => (statements++, service.store.rows(...asked))
      const ways = disjointGone(admin, status, START)
      const store = { ...service.store, rows }
      const page = await pageMemories(store, tenant_id, ways, 5, 10, () => assert.fail('one step'))
      assert.deepEqual(
        [page.rows.map(({ id }) => id), page.total, statements],
        [gone.slice(5, 15).map(({ id }) => id), gone.length, 2],
      )
    }
  })
})
