// Which memories a caller sees: over HTTP, and the predicate against its two forms in SQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MEMORY_SCOPES, MEMORY_STATUSES, MEMORY_TYPES } from '@sensorium/contract'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import { maySee, seenBy, disjointSeenBy, type Viewer } from '../../src/memory/see.ts'
import { pageMemories } from '../../src/memory/page-memories.ts'
import { insertMemory } from '../../src/memory/sql.ts'
import { migrate } from '../../src/store/migrate.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { START } from '../support/fake-clock.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { emptyStore } from '../support/store.ts'
import { memoryRow } from './memory-row.ts'
import { ids, memoryCalls, orgAdmin } from './tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const calls = memoryCalls(service)

  test('[MEM-9] [MEM-10] [MEM-12] which memories a caller sees by id, in a list and by a substring', async () => {
    const owner = await tenant.agent({ team: 'blue' })
    const mate = await tenant.agent({ team: 'blue' })
    const loner = await tenant.agent()
    const stranger = await (await service.tenant()).agent({ team: 'blue' })
    const admin = await orgAdmin(service, tenant)
    const memories = {
      own: await calls.make(owner, { scope: 'agent' }),
      team: await calls.make(owner, { scope: 'team' }),
      other: await calls.make(owner, { scope: 'team', team_id: 'red' }),
      all: await calls.make(owner, { scope: 'institutional' }),
    }
    const expected: [{ id: string; token: string }, (keyof typeof memories)[]][] = [
      [owner, ['own', 'team', 'other', 'all']],
      [mate, ['team', 'all']],
      [loner, ['all']],
      [stranger, []],
      [admin, ['own', 'team', 'other', 'all']],
    ]
    for (const [who, seen] of expected) {
      const wanted = seen.map((name) => memories[name].id).reverse()
      const listed = await calls.list(who)
      assert.deepEqual([ids(listed.memories), listed.total], [wanted, wanted.length])
      const found = await calls.list(who, { search: 'TITLE' })
      assert.deepEqual([ids(found.memories), found.total], [wanted, wanted.length])
      for (const [name, { id }] of Object.entries(memories)) {
        const reply = await calls.get(who, id)
        if (seen.includes(name as 'own')) assert.equal(reply.body.id, id)
        else assertError(reply, 'not_found', { resource_type: 'memory', resource_id: id })
      }
    }
  })

  test('[MEM-9] [MEM-10] [MEM-18] the predicate, its SQL and the parts of a list agree on every memory', async (t) => {
    const { store, drop } = await emptyStore(engine)
    t.after(drop)
    await migrate(store, START)
    const name = (...names: string[]) => fc.constantFrom(...names)
    const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 2 })
    const anyMemory = fc.record({
      tenant_id: name('t1', 't2'),
      agent_id: name('a1', 'a2'),
      team_id: nullable(name('x', 'y')),
      scope: fc.constantFrom(...MEMORY_SCOPES),
      status: fc.constantFrom(...MEMORY_STATUSES),
      type: fc.constantFrom(...MEMORY_TYPES.slice(0, 2)),
      expires_at: nullable(fc.constantFrom(START - 1, START, START + 1)),
    })
    const anyViewer: fc.Arbitrary<Viewer> = fc.record({
      kind: fc.constantFrom('agent' as const, 'agent' as const, 'org_admin' as const),
      id: name('a1', 'a2', 'a3'),
      tenantId: name('t1', 't2'),
      teamId: nullable(name('x', 'y')),
    })
    let round = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyMemory, { maxLength: 30 }),
        fc.array(anyViewer, { minLength: 5, maxLength: 5 }),
        async (memories, viewers) => {
          round++
          const rows = memories.map((memory, i) => {
            const id = `mem_${String(i).padStart(3, '0')}`
            const tenant_id = `${memory.tenant_id}-${round}`
            return memoryRow({ tenant_id, agent_id: memory.agent_id, id }, 1, { ...memory, tenant_id })
          })
          await store.tx(async (tx) => {
            for (const row of rows) await insertMemory(tx, row)
          })
          for (const viewer of viewers.map((one) => ({ ...one, tenantId: `${one.tenantId}-${round}` }))) {
            const seen = rows
              .filter((row) => maySee(viewer, row, START))
              .map(({ id }) => id)
              .reverse()
            const { sql, values } = seenBy(viewer, START)
            assert.deepEqual(
              ids(
                await store.rows<{ id: string }>(`select m.id from memories m where ${sql} order by m.id desc`, values),
              ),
              seen,
            )
            for (const scope of [undefined, ...MEMORY_SCOPES]) {
              const page = await pageMemories(
                store,
                viewer.tenantId,
                disjointSeenBy(viewer, START, scope),
                0,
                100,
                nextTurn,
              )
              const ofScope = seen.filter(
                (id) => scope === undefined || rows.find((row) => row.id === id)!.scope === scope,
              )
              assert.deepEqual([ids(page.rows), page.total], [ofScope, ofScope.length])
            }
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})
