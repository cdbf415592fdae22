// A text on which the embedding service fails holds back no other, and an outage costs the service few requests.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeEmbedding } from '../../src/memory/embed-memories.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { farModel } from './far-model.ts'
import { memoryCalls } from './tools.ts'

const MEMORIES = 8

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let tenantId: string
  let ids: string[]
  before(async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    tenantId = tenant.id
    const { make } = memoryCalls(service)
    ids = []
    for (let i = 0; i < MEMORIES; i++) ids.push((await make(agent, { title: `Number ${i}.` })).id)
    await service.app.memory.embedding.idle()
  })

  /**
   * An embedding with a model of this name that fails on batches which hold one of the titles, and a clock of its own.
   */
  function failingOn(model: string, ...titles: RegExp[]) {
    const self = { now: service.clock.now(), requests: 0 }
    const embedding = makeEmbedding({
      store: service.store,
      index: service.app.memory.index,
      embedder: farModel(model, async (texts) => {
        self.requests++
        if (titles.some((title) => texts.some((text) => title.test(text)))) throw new Error('500')
      }),
      clock: { ...service.clock, now: () => self.now },
      log: makeLogger('silent'),
    })
    /** The memories that are not embedded by this model, and for how many seconds each rests. */
    const left = async (): Promise<[id: string, seconds: number][]> => {
      const rows = await service.store.rows<{ memory_id: string; retry_at: number }>(
        'select memory_id, retry_at from memory_recall where tenant_id = ? and embedded <> ? order by memory_id',
        [tenantId, model],
      )
      return rows.map(({ memory_id, retry_at }) => [memory_id, (Number(retry_at) - self.now) / 1_000])
    }
    return { self, embedding, left }
  }

  test('[RCL-72] a text on which the service fails holds back no other, and rests for an hour', async () => {
    const { embedding, left } = failingOn('model-a', /Number 3\./)
    assert.equal(await embedding.runOnce(), MEMORIES - 1)
    assert.deepEqual(await left(), [[ids[3], 3_600]])
    await embedding.close()
  })

  test('[RCL-72] while the service fails on everything, a batch costs three requests and rests for half a minute', async () => {
    const { self, embedding, left } = failingOn('model-b', /./)
    // The one that rests is not claimed before its time.
    self.now += 3_600_000
    assert.equal(await embedding.runOnce(), 0)
    assert.equal(self.requests, 3)
    assert.deepEqual(
      await left(),
      ids.map((id, i) => [id, i < 2 ? 30 : 20]),
    )
    await embedding.close()
  })

  test('[RCL-72] texts that fail are not claimed again with those that were claimed with them', async () => {
    const { self, embedding, left } = failingOn('model-c', /Number 0\./, /Number 1\./)
    self.now += 2 * 3_600_000
    assert.equal(await embedding.runOnce(), 0)
    self.now += 21_000
    assert.equal(await embedding.runOnce(), MEMORIES - 2)
    assert.deepEqual(await left(), [
      [ids[0], 9],
      [ids[1], 9],
    ])
    await embedding.close()
  })
})
