// Claims on memories to embed, as several nodes make them on one store.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeEmbeddingClaims, type EmbeddingClaims, type MemoryName } from '../../src/memory/embedding-claims.ts'
import type { Store } from '../../src/store/db.ts'
import { openStore } from '../../src/store/open.ts'
import { onBothEngines } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { turnsUntil } from '../support/turns-until.ts'

const MODEL = 'present'
const BATCH = 32

onBothEngines((engine) => {
  const clock = fakeClock()
  let store: Store
  let drop: () => Promise<void>
  /** Two nodes. */
  let one: EmbeddingClaims
  let other: EmbeddingClaims
  beforeEach(async () => {
    const fresh = await (engine.migrated ?? engine.fresh)()
    drop = fresh.drop
    store = (await openStore(readConfig(fresh.env), clock)).store
    const make = (): EmbeddingClaims =>
      makeEmbeddingClaims({ store, model: MODEL, batch: BATCH, clock, log: makeLogger('silent') })
    ;[one, other] = [make(), make()]
  })
  afterEach(async () => {
    for (const claims of [one, other]) claims.close()
    await store.close()
    await drop()
  })

  /** Stores memories of a tenant that wait to be embedded. */
  const leave = (tenantId: string, ...ids: string[]): Promise<MemoryName[]> =>
    store.tx(async (tx) => {
      for (const id of ids) {
        await tx.run(
          `insert into memories (tenant_id, id, agent_id, scope, status, type, confidence, importance, created_at,
             updated_at, accessed_at, title, content, metadata)
           values (?, ?, 'agt', 'agent', 'active', 'semantic', 1, 1, 0, 0, 0, 'title', 'content', '{}')`,
          [tenantId, id],
        )
        await tx.run(
          `insert into memory_recall (tenant_id, memory_id, length, version, embedded, claimed_until, word_rules)
           values (?, ?, 1, 1, '', 0, 99)`,
          [tenantId, id],
        )
      }
      return ids.map((memoryId) => ({ tenantId, memoryId }))
    })
  const left = async (claims: EmbeddingClaims): Promise<string[]> =>
    (await claims.claimLeftover()).map(({ memoryId }) => memoryId)

  test('[RCL-6] what a node has claimed is another’s three seconds after it was last heard of', async () => {
    const names = await leave('org_a', 'mem_1', 'mem_2')
    assert.equal((await one.claimNamed(names)).length, 2)
    await clock.advance(2_999)
    assert.deepEqual([await left(other), await other.claimNamed(names)], [[], []])
    await clock.advance(1)
    assert.deepEqual([await left(other), await left(one)], [['mem_1', 'mem_2'], []])
  })

  test('[RCL-6] claims are renewed until the work on them is over, whatever other work ends before', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const names = await leave('org_a', 'mem_1', 'mem_2')
    const batches = [await one.claimNamed(names.slice(0, 1)), await one.claimNamed(names.slice(1))]
    const [endFirst, endSecond] = batches.map((batch) => one.keepRenewing(batch))
    endFirst!()
    await clock.advance(2_000)
    t.mock.timers.tick(1_000)
    const renewed = 'select memory_id from memory_recall where claimed_until = ?'
    await turnsUntil(async () => (await store.rows(renewed, [clock.now() + 3_000])).length === 1)
    await clock.advance(1_000)
    assert.deepEqual(await left(other), ['mem_1'])
    endSecond!()
    t.mock.timers.tick(1_000)
    await clock.advance(2_000)
    assert.deepEqual(await left(other), ['mem_2'])
  })

  test('[RCL-6] a claim, or a rest, that only a clock which was set back can have made holds nobody up', async () => {
    await leave('org_a', 'mem_1')
    for (const [column, most] of [
      ['claimed_until', 6_000],
      ['retry_at', 3_603_000],
    ] as const) {
      const set = (ms: number) => store.tx((tx) => tx.run(`update memory_recall set ${column} = ?`, [clock.now() + ms]))
      await set(most)
      assert.deepEqual(await left(one), [], column)
      await set(most + 1)
      assert.deepEqual(await left(one), ['mem_1'], column)
      await store.tx((tx) => tx.run('update memory_recall set claimed_until = 0, retry_at = 0'))
    }
  })

  test('[RCL-72] a memory that is given back rests as its failure asks, unless its text has changed', async () => {
    const names = await leave('org_a', 'mem_1')
    for (const [why, ms] of [
      ['closing', 0],
      ['unsure', 20_000],
      ['failed', 30_000],
      ['refused', 3_600_000],
    ] as const) {
      await one.release(await one.claimNamed(names), why)
      if (ms > 0) await clock.advance(ms - 1)
      if (ms > 0) assert.deepEqual(await left(other), [], why)
      if (ms > 0) await clock.advance(1)
      assert.deepEqual(await left(other), ['mem_1'], why)
      await clock.advance(3_000)
    }
    const claimed = await one.claimNamed(names)
    await store.tx((tx) => tx.run('update memory_recall set version = 2, claimed_until = 0'))
    await one.release(claimed, 'refused')
    assert.deepEqual(await left(other), ['mem_1'])
  })

  test('[RCL-61] tenants take turns: sixteen at a time share a batch, and those after them come next', async () => {
    const tenants = Array.from({ length: 20 }, (_, i) => `org_${String(i).padStart(2, '0')}`)
    for (const tenantId of tenants) await leave(tenantId, ...[1, 2, 3].map((n) => `mem_${tenantId}_${n}`))
    const byTenant = async (): Promise<[string, number][]> => {
      const claimed = await one.claimLeftover()
      return [...Map.groupBy(claimed, ({ tenantId }) => tenantId)].map(([tenantId, some]) => [tenantId, some.length])
    }
    const each = (some: string[], count: number): [string, number][] => some.map((tenantId) => [tenantId, count])
    assert.deepEqual(await byTenant(), each(tenants.slice(0, 16), 2))
    assert.deepEqual(await byTenant(), each(tenants.slice(16), 3))
    assert.deepEqual(await byTenant(), each(tenants.slice(0, 16), 1))
    assert.deepEqual(await byTenant(), [])
  })
})
