// Memories that were written wait for the model in turns of tenants, long ones too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLogger } from '../../src/kernel/logger.ts'
import { makeEmbedding } from '../../src/memory/embed-memories.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'
import { farModel } from './far-model.ts'
import { memoryCalls } from './tools.ts'

const LONG = 'A word. '.repeat(130)

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[RCL-61] the long texts of one tenant leave the long one of another a place at the model', async () => {
    const { make } = memoryCalls(service)
    const [loud, quiet] = [await service.tenant(), await service.tenant()]
    const [shouting, whispering] = [await loud.agent(), await quiet.agent()]
    const made: [tenantId: string, agentId: string, id: string][] = []
    for (let i = 0; i < 6; i++)
      made.push([loud.id, shouting.id, (await make(shouting, { title: `loud ${i}`, content: LONG })).id])
    const last = await make(whispering, { title: 'quiet', content: LONG })
    await service.app.memory.embedding.idle()

    const begun: string[] = []
    const goOn = Promise.withResolvers<void>()
    const embedding = makeEmbedding({
      store: service.store,
      index: service.app.memory.index,
      embedder: farModel('another', async (texts) => {
        begun.push(...texts.map((text) => text.split(/\s/)[0]!))
        await goOn.promise
      }),
      clock: service.clock,
      log: makeLogger('silent'),
    })
    for (const [tenantId, agentId, id] of made) embedding.wake(tenantId, agentId, id, LONG.length)
    await turnsUntil(() => begun.length === 2)
    embedding.wake(quiet.id, whispering.id, last.id, LONG.length)
    await turnsUntil(() => begun.length === 3)
    assert.deepEqual(begun, ['loud', 'loud', 'quiet'])
    goOn.resolve()
    await embedding.idle()
    assert.equal(begun.length, 7)
    await embedding.close()
  })
})
