// Expired memories: the clock decides, a sweep writes it down.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expireMemories } from '../../src/memory/expire.ts'
import { StoreUnavailable, type Store } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { aMemory, ids, memoryCalls } from './tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const agent = agentForSuite(tenantForSuite(service))
  const calls = memoryCalls(service)

  const statusOf = async (id: string): Promise<string> => {
    const [row] = await service.store.rows<{ status: string }>('select status from memories where id = ?', [id])
    return row!.status
  }

  test('[MEM-18] from its expiry on a memory is gone, before and after the sweep', async () => {
    const memory = await calls.make(agent, { title: 'Fleeting' })
    await calls.make(agent)
    await calls.patch(agent, memory.id, { expires_at: new Date(service.clock.now() + 9_000).toISOString() })
    await service.clock.advance(8_999)
    assert.equal((await calls.get(agent, memory.id)).status, 200)
    assert.equal((await calls.list(agent, { search: 'fleeting' })).total, 1)
    const { total } = await calls.list(agent)
    const expired = async () => {
      assertError(await calls.get(agent, memory.id), 'not_found')
      assertError(await calls.patch(agent, memory.id, { expires_at: null }), 'not_found')
      assertError(await calls.forget(agent, memory.id), 'not_found')
      assert.equal((await calls.list(agent)).total, total - 1)
      assert.deepEqual(await calls.list(agent, { search: 'fleeting' }), { memories: [], total: 0 })
    }
    await service.clock.advance(1)
    assert.equal(await statusOf(memory.id), 'active', 'the clock alone decides')
    await expired()
    await service.app.runOnce.expireMemories()
    assert.equal(await statusOf(memory.id), 'expired')
    await expired()
    assert.equal(await service.app.runOnce.expireMemories(), 0)
  })

  test('[MEM-18] the sweep takes all memories that are due, however many, and no others', async () => {
    const other = await service.tenant()
    const owner = await other.agent()
    const soon = new Date(service.clock.now() + 2_000).toISOString()
    const lines = Array.from({ length: 205 }, (_, i) => ({ ...aMemory, id: `m${i}`, expires_at: soon }))
    assert.deepEqual((await calls.imported(owner, lines)).counts, [205, 0, 0, 0])
    const stays = [
      await calls.make(owner),
      await calls.make(owner, { expires_at: new Date(service.clock.now() + 2_001).toISOString() }),
    ]
    const gone = await calls.make(owner, { expires_at: soon })
    await calls.forget(owner, gone.id)
    await service.clock.advance(2_000)
    await service.app.runOnce.expireMemories()
    assert.deepEqual(ids((await calls.list(owner)).memories), ids(stays).reverse())
    assert.equal(await statusOf(gone.id), 'deleted')
    const left = await service.store.rows<{ id: string }>('select id from memory_texts where tenant_id = ?', [other.id])
    assert.deepEqual(ids(left).sort(), ids(stays).sort())
  })

  test('[SAFE-21] tenants take turns in the sweep, and a step holds rows of one tenant', async () => {
    const [many, few] = [await service.tenant(), await service.tenant()]
    const [loud, quiet] = [await many.agent(), await few.agent()]
    const soon = (ms: number): string => new Date(service.clock.now() + ms).toISOString()
    const first = soon(1_000)
    const lines = Array.from({ length: 230 }, (_, i) => ({ ...aMemory, id: `m${i}`, expires_at: first }))
    assert.deepEqual((await calls.imported(loud, lines)).counts, [230, 0, 0, 0])
    await calls.make(quiet, { expires_at: soon(2_000) })
    await service.clock.advance(2_000)
    const { index } = service.app.memory
    // A map by memory, because a transaction that lost a race is retried.
    const order = new Map<string, string>()
    const remove: typeof index.remove = (tx, tenantId, id) => {
      order.set(id, tenantId)
      return index.remove(tx, tenantId, id)
    }
    // The service sweeps as well. If the two collide, this sweep tries again in the next round, as the loop does.
    const sweep = async (): Promise<number> => {
      for (;;) {
        try {
          return await expireMemories(service.store, { remove }, service.clock.now())
        } catch (error) {
          if (!(error instanceof StoreUnavailable) || error.trouble !== 'busy') throw error
        }
      }
    }
    await sweep()
    const ours = [...order.values()].filter((id) => id === many.id || id === few.id)
    assert.equal(ours.length, 231)
    assert.ok(ours.indexOf(few.id) <= 100, 'it waited for one step of the other')
    assert.equal(await sweep(), 0)
  })

  test('[MEM-41] a step of the sweep ends with 64 KiB of text, or one memory', async () => {
    const owner = await (await service.tenant()).agent()
    const due = service.clock.now() + 500
    for (const [i, length] of [30_000, 30_000, 30_000, 30_000, 30_000, 70_000].entries())
      await calls.make(owner, {
        metadata: { note: 'x'.repeat(length) },
        expires_at: new Date(due + i).toISOString(),
      })
    const { store } = service
    const { index } = service.app.memory
    const steps: number[] = []
    const noting: Store = {
      ...store,
      tx(work, options) {
        steps.push(0)
        return store.tx(work, options)
      },
    }
    const remove: typeof index.remove = (tx, tenantId, id) => {
      steps[steps.length - 1]!++
      return index.remove(tx, tenantId, id)
    }
    assert.equal(await expireMemories(noting, { remove }, due + 6), 6)
    assert.deepEqual(steps, [2, 2, 1, 1])
  })
})
