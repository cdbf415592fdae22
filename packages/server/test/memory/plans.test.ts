// What is asked about memories in the background and by lists is found by indexes, whatever else the tenant holds: the
// statements are explained on both engines, on a store with enough rows to give the planner a choice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeClaims } from '../../src/memory/embedding-claims.ts'
import type { Store, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service } from '../support/service.ts'

const ROWS = 20_000
const TENANTS = 50

onBothEngines((engine) => {
  let service: Service
  before(async () => {
    service = await startService(engine)
    const numbers =
      engine.name === 'sqlite' ? 'with recursive g(n) as (select 1 union all select n + 1 from g where n < ?) ' : ''
    const from = engine.name === 'sqlite' ? 'g' : 'generate_series(1, ?::int) as g(n)'
    await service.store.tx((tx) =>
      tx.run(
        `insert into memory_recall (tenant_id, memory_id, length, version, embedded, claimed_until, word_rules)
         ${numbers}select 'org_' || (n % ${TENANTS}), 'mem_' || n, 1, 1, 'present', 0, 99 from ${from}`,
        [ROWS],
      ),
    )
  })
  after(() => service.stop())

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

  test('[RCL-70] what is left to embed is found by an index, whether nothing is left or everything', async () => {
    const { clock } = service
    for (const [model, left] of [
      ['present', 0],
      ['another', 32],
      ['the next', 32],
    ] as const) {
      const plans = await plansOf(async (store) => {
        const claims = makeClaims({ store, model, batch: 32, clock, log: makeLogger('silent') })
        await claims.claimLeftover()
        claims.close()
      })
      assert.ok(plans.length > 1)
      for (const plan of plans) {
        if (engine.name === 'postgres') assert.match(plan, /Index (Only )?Scan using memory_recall_left/)
        else
          assert.match(
            plan,
            /^SEARCH memory_recall USING (COVERING )?INDEX memory_recall_left \(embedded\S+( AND tenant_id\S+)?\)$/,
          )
      }
      const claimed = await service.store.tx((tx) =>
        tx.run('update memory_recall set claimed_until = 0 where claimed_until > 0'),
      )
      assert.equal(claimed, left)
    }
  })
})
