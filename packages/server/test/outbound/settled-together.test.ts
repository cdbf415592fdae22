// Pushes to many agents that succeed at the same moment are settled together.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { startService } from '../support/service.ts'
import { outboundCalls, startReceiver, until } from './tools.ts'

const AGENTS = 40

onBothEngines((engine) => {
  test('[PUSH-1] [TEN-4] acknowledged pushes of a group are metered once, so that groups cannot deadlock', async (t) => {
    const service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on' })
    t.after(() => service.stop())
    const receiver = await startReceiver()
    t.after(() => receiver.stop())
    const calls = outboundCalls(service)
    const tenant = await service.tenant()
    const sender = await tenant.agent()
    for (let i = 0; i < AGENTS; i++) await calls.pushed(tenant, receiver.url)
    const all = Promise.withResolvers<void>()
    receiver.answer = async () => {
      if (receiver.all.length === AGENTS) all.resolve()
      await all.promise
      return 204
    }
    await calls.publish(sender)
    const metered = () =>
      service.store.rows<{ amount: number }>(
        "select amount from usage_days where tenant_id = ? and metric = 'acknowledgements'",
        [tenant.id],
      )
    const shards = await until(async () => {
      const rows = await metered()
      return rows.reduce((sum, { amount }) => sum + Number(amount), 0) === AGENTS && rows
    }, 'every push is acknowledged')
    // A shard for each agent would be about thirty of the 64.
    assert.ok(shards.length < AGENTS / 3, `${shards.length} shards for ${AGENTS} agents`)
  })
})
