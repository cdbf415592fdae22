// Replaying and discarding many dead letters in steps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '@sensorium/client'
import { onBothEngines } from '../../server/test/support/engines.ts'
import { serviceForSuite } from '../../server/test/support/service.ts'
import { workThrough } from '../src/pages/dead-letters/work-through.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)

  test('[UI-31] no more dead letters are discarded than the user was shown, whatever fits the filter', async () => {
    const tenant = await service.tenant()
    const agent = await tenant.agent()
    const admin = createClient({ url: service.url, apiKey: tenant.adminKey })
    const receiver = createClient({ url: service.url, apiKey: agent.key })
    await receiver.interests.create(agent.id, { event_type: '*' })
    for (const count of [100, 5]) {
      await admin.events.publishBatch(Array.from({ length: count }, () => ({ type: 'com.door', source: '/plant' })))
      const { deliveries } = await receiver.deliveries.poll({ limit: 100 })
      await receiver.deliveries.nack(
        deliveries.map(({ id }) => id),
        { dead_letter: true },
      )
    }
    const total = async (): Promise<number> => (await admin.deliveries.deadLetters({ limit: 1 })).total
    assert.equal(await total(), 105)
    const progress: number[] = []
    for await (const done of workThrough(admin, 'discard', { filter: {}, total: 102 })) progress.push(done)
    assert.deepEqual(progress, [100, 102])
    assert.equal(await total(), 3)
    const fewer: number[] = []
    for await (const done of workThrough(admin, 'discard', { filter: {}, total: 10 })) {
      assert.ok(fewer.push(done) <= 2, 'it goes on although nothing is left')
    }
    assert.deepEqual(fewer, [3, 3], 'somebody else has discarded the rest meanwhile')
  })
})
