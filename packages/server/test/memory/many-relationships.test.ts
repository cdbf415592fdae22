// Memories with very many relationships are erased and merged in steps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal } from '../../src/auth/principal.ts'
import { beginErasure } from '../../src/memory/erase.ts'
import { moveEdges } from '../../src/memory/move-edges.ts'
import type { Db, Store, Value } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite } from '../support/service.ts'
import { memoryCalls, orgAdmin, turnsBeside } from './tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  async function people() {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    return { tenant, agent, admin: await orgAdmin(service, tenant), calls: memoryCalls(service) }
  }

  /** Gives a memory so many relationships in each direction, with memories that need not exist. */
  async function relateMany(tenantId: string, memoryId: string, many: number): Promise<void> {
    const numbers =
      engine.name === 'sqlite' ? 'with recursive g(n) as (select 1 union all select n + 1 from g where n < ?) ' : ''
    const from = engine.name === 'sqlite' ? 'g' : 'generate_series(1, ?::int) as g(n)'
    for (const [direction, source, target] of [
      ['out', '?', "'mem_' || n"],
      ['in', "'mem_' || n", '?'],
    ])
      await service.store.tx((tx) =>
        tx.run(
          `insert into memory_relationships (tenant_id, id, source_memory_id, target_memory_id, relationship_type, strength, created_by, created_at)
           ${numbers}select '${tenantId}', '${memoryId} ${direction} ' || n, ${source}, ${target}, 'supports', 1, 'agt_x', 1 from ${from}`,
          engine.name === 'sqlite' ? [many, memoryId] : [memoryId, many],
        ),
      )
  }

  const left = async (tenantId: string): Promise<number> =>
    (await service.store.rows('select 1 from memory_relationships where tenant_id = ?', [tenantId])).length

  test('[KEP-30] [RACE-16] the relationships of an erased memory go in steps, and an erasure that breaks off can be repeated', async () => {
    const { tenant, agent, admin, calls } = await people()
    const { store } = service
    const [hub, into] = [await calls.make(agent), await calls.make(agent)]
    await relateMany(tenant.id, hub.id, 450)
    const tools = { now: service.clock.now, index: service.app.memory.index }
    const who = { tenantId: tenant.id, id: admin.id, keyId: '', teamId: null, scopes: new Set<string>() }
    const principal: Principal = { ...who, kind: 'org_admin' }
    let steps = 0
    const breaking: Store = {
      ...store,
      tx(work, options) {
        if (steps++ === 3) throw new Error('the service ends here')
        return store.tx(work, options)
      },
    }
    await assert.rejects(beginErasure(breaking, tools, principal, hub.id), /the service ends here/)
    assert.equal(await left(tenant.id), 500)
    // Nobody sees it any more, so nobody moves what is left.
    assertError(await calls.get(agent, hub.id), 'not_found')
    const merge = { token: agent.token, body: { memory_ids: [hub.id] } }
    assertError(await service.call(`POST /v1/memories/${into.id}/merge`, merge), 'not_found')
    await assert.rejects(beginErasure(store, tools, { ...principal, kind: 'agent' }, hub.id))
    const path = `DELETE /v1/memories/${hub.id}?erase=true`
    assert.equal((await service.call(path, { token: admin.token })).status, 204)
    assert.equal(await left(tenant.id), 0)
  })

  test('[KEP-31] a merge moves relationships in steps, and reads none of other memories', async () => {
    const { tenant, agent, calls } = await people()
    const [into, gone, other] = [await calls.make(agent), await calls.make(agent), await calls.make(agent)]
    await relateMany(tenant.id, gone.id, 600)
    await relateMany(tenant.id, other.id, 600)
    const plans: string[] = []
    const read: number[] = []
    const written: number[] = []
    const { turns } = await turnsBeside(
      service.store.tx(async (tx) => {
        const counting: Db = {
          ...tx,
          async rows<R>(sql: string, values: readonly Value[] = []) {
            const how = engine.name === 'sqlite' ? 'explain query plan' : 'explain'
            for (const line of await tx.rows<Record<string, string>>(`${how} ${sql}`, values))
              plans.push(line['detail'] ?? line['QUERY PLAN'] ?? '')
            const rows = await tx.rows<R>(sql, values)
            read.push(rows.length)
            return rows
          },
          async run(sql, values) {
            written.push(await tx.run(sql, values))
            return written.at(-1)!
          },
        }
        await moveEdges(counting, tenant.id, into.id, [gone.id])
      }),
    )
    assert.ok(turns >= 12, `${turns} turns`)
    const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)
    assert.deepEqual([sum(read), sum(written)], [1_200, 1_200])
    assert.deepEqual([Math.max(...read), Math.max(...written)], [500, 100])
    assert.match(plans.join('\n'), /memory_relationships_in\b/)
    assert.match(plans.join('\n'), /memory_relationships_out\b/)
    if (engine.name === 'sqlite')
      for (const plan of plans) assert.match(plan, /\(tenant_id=\? AND (source|target)_memory_id=\?/)
    const moved = await service.store.rows(
      'select 1 from memory_relationships where tenant_id = ? and ? in (source_memory_id, target_memory_id)',
      [tenant.id, into.id],
    )
    assert.equal(moved.length, 1_200)
  })

  test('[KEP-13] memories with ten thousand relationships are merged, and with more they are not', async () => {
    const { tenant, agent, calls } = await people()
    const [into, gone] = [await calls.make(agent), await calls.make(agent)]
    const merge = () =>
      service.call(`POST /v1/memories/${into.id}/merge`, { token: agent.token, body: { memory_ids: [gone.id] } })
    await relateMany(tenant.id, gone.id, 5_000)
    await calls.relate(agent, into.id, gone.id)
    assertError(await merge(), 'business_rule_violation', { rule: 'too_many_relationships', limit: 10_000 })
    assert.equal((await calls.get(agent, gone.id)).status, 200)
    const [between] = await calls.related(agent, into.id)
    await calls.unrelate(agent, into.id, between!.relationship.id)
    assert.equal((await merge()).status, 200)
    assert.equal(await left(tenant.id), 10_000)
  })
})
