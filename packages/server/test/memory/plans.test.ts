// What is asked about memories in the background and by lists is found by indexes, whatever else the tenant holds: the
// statements are explained on both engines, on a store with enough rows to give the planner a choice.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Principal } from '../../src/auth/principal.ts'
import { nextTurn } from '../../src/kernel/step-turns.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeEmbeddingClaims } from '../../src/memory/embedding-claims.ts'
import { passingQuery } from '../../src/memory/index/filter-conditions.ts'
import { listMemories } from '../../src/memory/list.ts'
import { rewordMemories } from '../../src/memory/reword.ts'
import type { Store, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'

const ROWS = 20_000
const TENANTS = 50

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  before(async () => {
    const numbers =
      engine.name === 'sqlite' ? 'with recursive g(n) as (select 1 union all select n + 1 from g where n < ?) ' : ''
    const from = engine.name === 'sqlite' ? 'g' : 'generate_series(1, ?::int) as g(n)'
    await service.store.tx(async (tx) => {
      await tx.run(
        `insert into memory_recall (tenant_id, memory_id, length, version, embedded, claimed_until, word_rules)
         ${numbers}select 'org_' || (n % ${TENANTS}), 'mem_' || n, 1, 1, 'present', 0, 99 from ${from}`,
        [ROWS],
      )
      await tx.run(
        `insert into memories (tenant_id, id, agent_id, scope, status, type, confidence, importance, project_id, created_at,
           updated_at, accessed_at, title, content, metadata)
         ${numbers}select 'org_1', 'mem_' || n, 'agt_' || (n % 20), 'agent', case n % 5 when 0 then 'deleted' else 'active' end,
           'semantic', 1, 1, 'p', n, n, n, 'title', 'content', '{}' from ${from}`,
        [ROWS],
      )
    })
  })

  /**
   * Asserts that a plan finds memories by the given indexes, and on SQLite without reading their rows. By its key a
   * memory is read only if its id is known.
   */
  function assertOnly(plan: string, indexes: readonly string[]): void {
    const steps = plan.split(' / ')
    for (const [i, step] of steps.entries()) {
      const [, table] = /^(?:SEARCH|SCAN) (m)\b|Scan.* on (memories)\b/.exec(step) ?? []
      if (table === undefined && !/Bitmap Index Scan/.test(step)) continue
      const isById = engine.name === 'sqlite' ? / AND id=\?\)$/.test(step) : /\(id = /.test(steps[i + 1] ?? '')
      const index = /(?:INDEX|using|Index Scan on) (\w+)/.exec(step)?.[1]
      const isOne = index !== undefined && indexes.includes(index)
      assert.ok(isById || isOne || /Bitmap Heap Scan/.test(step), `${step} in ${plan}`)
    }
  }

  /** Returns the plans of all queries that `ask` makes, a line each: without statistics on SQLite, and with them. */
  async function plansOf(ask: (store: Store) => Promise<unknown>): Promise<string[]> {
    const asked: [sql: string, values: readonly Value[]][] = []
    const rows: Store['rows'] = (sql, values = []) => {
      asked.push([sql, values])
      return service.store.rows(sql, values)
    }
    await ask({ ...service.store, rows })
    const explain = async (): Promise<string[]> => {
      const plans: string[] = []
      for (const [sql, values] of asked) {
        const how = engine.name === 'sqlite' ? 'explain query plan' : 'explain'
        const lines = await service.store.rows<Record<string, string>>(`${how} ${sql}`, values)
        plans.push(lines.map((line) => line['detail'] ?? line['QUERY PLAN']).join(' / '))
      }
      return plans
    }
    const plans = engine.name === 'sqlite' ? await explain() : []
    await service.store.tx((tx) => tx.run('analyze'))
    return [...plans, ...(await explain())]
  }

  const agent: Principal = {
    kind: 'agent',
    id: 'agt_none',
    tenantId: 'org_1',
    teamId: 'blue',
    keyId: '',
    scopes: new Set(),
  }
  // Of somebody who sees most of a tenant, PostgreSQL may read all of it by its key.
  const ofTenant = [
    'memories_live',
    'memories_owned',
    'memories_institutional',
    engine.name === 'postgres' ? 'memories_pkey' : '',
  ]
  const filters = [
    { project_id: 'p' },
    { created_after: '1970-01-01T00:00:01Z' },
    { created_before: '1970-01-01T00:00:01Z', project_id: 'p', type: 'semantic' },
    { created_after: '1970-01-01T00:00:01Z', scope: 'institutional' },
  ] as const

  test('[MEM-40] a filtered list reads the memories in view from an index alone', async () => {
    for (const [viewer, indexes] of [
      [agent, ['memories_owned', 'memories_of_team', 'memories_institutional']],
      [{ ...agent, id: 'agt_1' }, ['memories_owned', 'memories_of_team', 'memories_institutional']],
      [{ ...agent, kind: 'org_admin' }, ofTenant],
    ] as const) {
      for (const filter of filters) {
        const plans = await plansOf((store) =>
          listMemories(store, async () => [], viewer, filter, { now: 5, pause: nextTurn }),
        )
        assert.ok(plans.length > 1)
        for (const plan of plans) assertOnly(plan, indexes)
      }
    }
  })

  test('[MEM-40] a list of deleted or expired memories reads no live ones', async () => {
    for (const [viewer, index] of [
      [agent, 'memories_gone_owned'],
      [{ ...agent, kind: 'org_admin' }, 'memories_gone'],
    ] as const) {
      for (const filter of [{}, ...filters]) {
        for (const status of ['deleted', 'expired'] as const) {
          const query = { ...filter, status }
          const plans = await plansOf((store) =>
            listMemories(store, async () => [], viewer, query, { now: 5, pause: nextTurn }),
          )
          for (const plan of plans) {
            assert.match(plan, new RegExp(`${index}\\b`))
            // Past their expiry, and not written down: few, and the indexes of live ones have the time.
            assertOnly(plan, [
              index,
              'memories_expiring_of_tenant',
              'memories_institutional',
              'memories_live',
              'memories_owned',
            ])
          }
        }
      }
    }
  })

  test('[MEM-40] the filters of a search read the memories in view from an index alone', async () => {
    for (const filters of [{ projectId: 'p' }, { createdAfter: 1, createdBefore: 9 }]) {
      const { sql, values } = passingQuery({ viewer: agent, filters })!
      const plans = await plansOf((store) => store.rows(sql, values))
      for (const plan of plans) assertOnly(plan, ofTenant)
    }
  })

  const unused = (): never => assert.fail('nothing is left')
  test('[LOAD-13] memories with words of older rules are found by an index of them', async () => {
    const plans = await plansOf((store) =>
      rewordMemories(store, { analyseAhead: unused, reword: unused }, service.clock.now()),
    )
    assert.ok(plans.length > 0)
    for (const plan of plans) assert.match(plan, /memory_recall_old_words/)
  })

  test('[RCL-70] what is left to embed is found by an index, whether nothing is left or everything', async () => {
    const { clock } = service
    for (const [model, left] of [
      ['present', 0],
      ['another', 32],
      ['the next', 32],
    ] as const) {
      const plans = await plansOf(async (store) => {
        const claims = makeEmbeddingClaims({ store, model, batch: 32, clock, log: makeLogger('silent') })
        await claims.claimLeftover()
        claims.close()
      })
      assert.ok(plans.length > 1)
      for (const plan of plans) {
        if (engine.name === 'postgres') assert.match(plan, /Index (Only )?Scan using memory_recall_to_embed/)
        else
          assert.match(
            plan,
            /^SEARCH memory_recall USING (COVERING )?INDEX memory_recall_to_embed \(embedded\S+( AND tenant_id\S+)?( AND memory_id\S+)?\)$/,
          )
      }
      const claimed = await service.store.tx((tx) =>
        tx.run('update memory_recall set claimed_until = 0 where claimed_until > 0'),
      )
      assert.equal(claimed, left)
    }
  })
})
