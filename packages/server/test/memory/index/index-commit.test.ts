// The parts of the memory index that a node keeps in memory follow commits: a transaction that fails at its end leaves
// nothing behind, neither in the search thread nor in the queue of memories to embed.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Principal } from '../../../src/auth/principal.ts'
import { changeMemory } from '../../../src/memory/change.ts'
import { forgetMemory } from '../../../src/memory/forget.ts'
import { openIndex } from '../../../src/memory/index/open-index.ts'
import { promoteMemory } from '../../../src/memory/promote.ts'
import type { Db } from '../../../src/store/db.ts'
import { makeQuotas } from '../../../src/tenants/quotas.ts'
import { NO_SETTINGS } from '../../../src/tenants/settings.ts'
import { onBothEngines } from '../../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../../support/service.ts'
import { aMemory, memoryCalls } from '../tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  const calls = memoryCalls(service)
  const told: string[] = []
  before(async () => {
    // A row with a dangling reference makes the commit fail: the engines check the constraint at the very end.
    await service.store.tx(async (tx) => {
      await tx.run('create table whole (id integer primary key)')
      await tx.run('create table broken (id integer references whole (id) deferrable initially deferred)')
    })
  })

  const unlimited = () => makeQuotas(service.store, service.clock, () => NO_SETTINGS)

  async function search(query: string): Promise<{ title: string; similarity: number; lexical: number }[]> {
    const results = await calls.search(agent, query, { explain: true })
    return results.map(({ memory: { title }, signals }) => ({ title, ...signals! }))
  }
  /** Titles of the memories that contain a word of the query. */
  const holding = async (query: string): Promise<string[]> =>
    (await search(query))
      .filter(({ lexical }) => lexical > 0)
      .map(({ title }) => title)
      .sort()

  test('[RCL-13] a change that fails to commit does not change what is found, and the next one does', async () => {
    const harbour = await calls.make(agent, { title: 'Harbour', content: 'The ferry leaves at seven.' })
    const museum = await calls.make(agent, { title: 'Museum', content: 'The ferry ticket is valid there.' })
    await service.app.memory.embedding.idle()
    assert.deepEqual(await holding('ferry'), ['Harbour', 'Museum'])

    const principal = { kind: 'agent', id: agent.id, tenantId: tenant.id, teamId: null } as Principal
    const index = openIndex(service.config, service.store, ({ id }) => told.push(id))
    const tools = { now: service.clock.now, index, quotas: unlimited() }
    const changeAll = async (tx: Db): Promise<void> => {
      await changeMemory(tx, tools, principal, harbour.id, { title: 'Airport', content: 'The tram leaves at nine.' })
      await promoteMemory(tx, tools, principal, harbour.id, { scope: 'institutional' })
      await forgetMemory(tx, tools, principal, museum.id)
    }
    await assert.rejects(
      service.store.tx(async (tx) => {
        await changeAll(tx)
        await tx.run('insert into broken values (99)')
      }),
    )
    assert.deepEqual(told, [], 'nothing is to be embedded')
    assert.deepEqual(await holding('ferry'), ['Harbour', 'Museum'])
    assert.deepEqual(await holding('tram'), [])
    assert.deepEqual(
      (await search('ship')).map(({ similarity }) => similarity > 0.1),
      [true, true],
      'the vectors are still those of the texts',
    )
    assert.equal((await calls.list(agent, { search: 'ferry' })).total, 2)

    // In the log of changes this one gets the same numbers as the lost one.
    await service.store.tx(changeAll)
    assert.deepEqual(told, [harbour.id])
    assert.deepEqual(await holding('ferry'), [])
    assert.deepEqual(await holding('tram'), ['Airport'])
    assert.equal((await calls.list(agent, { search: 'ferry' })).total, 0)
    await index.close()
  })

  test('[RCL-13] a vector made before a memory was deleted is not kept for its restored text', async () => {
    const { id } = await calls.make(agent, { title: 'Bridge', content: 'The bridge is closed.' })
    await service.app.memory.embedding.idle()
    const state = 'select version, embedded from memory_recall where tenant_id = ? and memory_id = ?'
    const before = await service.store.rows<{ version: number }>(state, [tenant.id, id])
    await calls.forget(agent, id)
    const line = { ...aMemory, id, title: 'Tunnel', content: 'The tunnel is open.' }
    assert.deepEqual((await calls.imported(agent, [line])).counts, [0, 1, 0, 0])
    await service.app.memory.embedding.idle()
    const windows = [{ vector: new Float32Array(384).fill(1), tokens: new Int8Array() }]
    const late = { tenantId: tenant.id, memoryId: id, version: before[0]!.version, windows }
    assert.equal(await service.store.tx((tx) => service.app.memory.index.keep(tx, 'late', late)), false)
  })

  test('[RCL-13] beside a transaction that fails to commit, exactly what is committed is found', async () => {
    const memory = await calls.make(agent, { title: 'Lamp', content: 'The lamp in the hall is broken.' })
    await service.app.memory.embedding.idle()
    assert.deepEqual(await holding('lamp'), ['Lamp'])
    const principal = { kind: 'agent', id: agent.id, tenantId: tenant.id, teamId: null } as Principal
    const tools = { now: service.clock.now, index: service.app.memory.index, quotas: unlimited() }
    await Promise.allSettled([
      service.store.tx((tx) =>
        changeMemory(tx, tools, principal, memory.id, { title: 'Candle', content: 'A candle.' }),
      ),
      service.store.tx((tx) => tx.run('insert into broken values (99)')),
    ])
    const { title } = (await calls.get(agent, memory.id)).body
    assert.deepEqual(await holding('lamp candle'), [title])
  })
})
