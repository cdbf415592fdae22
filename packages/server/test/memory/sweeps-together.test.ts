// Concurrent work on many memories in one transaction: sweeps of two nodes, embedders, new words. All of them lock rows
// one after the other in the same order, so that two can wait for each other in one direction only.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeEmbedding } from '../../src/memory/embed-memories.ts'
import { expireMemories } from '../../src/memory/expire.ts'
import { rewordMemories } from '../../src/memory/reword.ts'
import type { Store } from '../../src/store/db.ts'
import { onBothEngines } from '../support/engines.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { farModel } from './far-model.ts'
import { memoryCalls } from './tools.ts'

const MEMORIES = 48
const ROUNDS = 2

/** The store, with a count of how often a transaction had to be retried. */
function counted(store: Store): { store: Store; again(): number } {
  let again = 0
  const tx: Store['tx'] = (work, options) => {
    let tries = 0
    return store.tx((db) => {
      if (++tries > 1) again++
      return work(db)
    }, options)
  }
  return { store: Object.assign(Object.create(store) as Store, { tx }), again: () => again }
}

/** An embedding service with the given model. */
onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)

  test('[FLT-2] concurrent sweeps, embedders and new words never deadlock', async () => {
    const { make } = memoryCalls(service)
    const { index } = service.app.memory
    const log = makeLogger('silent')
    const { store, again } = counted(service.store)
    for (let round = 0; round < ROUNDS; round++) {
      // The memory that was stored last expires first.
      const made = await Promise.all(
        Array.from({ length: MEMORIES }, (_, i) => {
          const expires_at = new Date(service.clock.now() + 60_000 - i).toISOString()
          return make(agent, { title: `Number ${i}`, content: `${i} of round ${round}`, expires_at })
        }),
      )
      await service.app.memory.embedding.idle()
      await service.store.tx((tx) => tx.run('update memory_recall set word_rules = 0 where tenant_id = ?', [tenant.id]))
      const now = service.clock.now() + 60_000
      const embeddings = ['model-b', 'model-c'].map((model) =>
        makeEmbedding({ store, index, embedder: farModel(model), clock: service.clock, log }),
      )
      for (const { id } of made.toReversed()) embeddings[0]!.wake(tenant.id, agent.id, id, 100)
      await Promise.all([
        ...embeddings.map((embedding) => embedding.runOnce()),
        rewordMemories(store, index, now),
        expireMemories(store, index, now),
        expireMemories(store, index, now),
      ])
      await Promise.all(embeddings.map((embedding) => embedding.idle().then(embedding.close)))
      // A sweep skips memories that the others had locked at that moment, and the next one finds them.
      await expireMemories(store, index, now)
      for (const table of ['memory_recall', 'memory_vectors']) {
        const left = await service.store.rows(`select memory_id from ${table} where tenant_id = ?`, [tenant.id])
        assert.deepEqual(left, [], `${table} has nothing of what expired`)
      }
    }
    assert.equal(again(), 0, 'no transaction was rolled back for another')
  })

  // With one writer nobody holds anything meanwhile.
  if (engine.name === 'postgres')
    test('[FLT-2] old words of a memory that another holds are left for the next run', async () => {
      const { make } = memoryCalls(service)
      const { index } = service.app.memory
      const [held] = [await make(agent, { title: 'Held' }), await make(agent, { title: 'Free' })]
      await service.app.memory.embedding.idle()
      await service.store.tx((tx) => tx.run('update memory_recall set word_rules = 0 where tenant_id = ?', [tenant.id]))
      await service.store.tx(async (tx) => {
        await tx.rows('select id from memories where tenant_id = ? and id = ? for update', [tenant.id, held.id])
        const rewording = rewordMemories(service.store, index, service.clock.now() + 60_000)
        await overOrWaiting(service.store, rewording)
        const old = await service.store.rows<{ memory_id: string }>(
          'select memory_id from memory_recall where tenant_id = ? and word_rules = 0',
          [tenant.id],
        )
        assert.deepEqual(old, [{ memory_id: held.id }])
      })
      assert.equal(await rewordMemories(service.store, index, service.clock.now() + 60_000), 1)
    })
})
