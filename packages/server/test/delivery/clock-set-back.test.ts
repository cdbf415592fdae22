// A machine's clock is set: back by an hour under a running node, or ahead of the clock that the nodes share.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { onBothEngines, postgres, POSTGRES_URL } from '../support/engines.ts'
import { realClock } from '../support/fake-clock.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'
import { eventIds, ids, interest, poll, publish } from '../events/tools.ts'
import { until } from '../outbound/tools.ts'

const HOUR = 3_600_000

onBothEngines((engine) => {
  describe('a clock that is set back by an hour', () => {
    let service: Service
    let tenant: TestTenant
    let agent: TestAgent

    before(async () => {
      service = await startService(engine, { VISIBILITY_TIMEOUT_S: '30' })
      tenant = await service.tenant()
    })
    after(() => service.stop())
    beforeEach(async () => {
      agent = await tenant.agent()
      await interest(service, agent, { event_type: agent.id })
    })

    const send = async (): Promise<string> =>
      (await publish(service, agent.token, { type: agent.id })).body.event_id as string

    test('[POL-2] a long poll of 5 s ends after 5 s', async () => {
      const others = service.clock.sleepers()
      let there = false
      const polling = poll(service, agent.token, 'wait=5').finally(() => (there = true))
      while (service.clock.sleepers() <= others) await new Promise(setImmediate)
      service.clock.set(-HOUR)
      for (let waited = 0; waited < 5_000; waited += 1_000) {
        while (!there && service.clock.sleepers() <= others) await new Promise(setImmediate)
        assert.equal(there, false)
        await service.clock.advance(1_000)
      }
      assert.deepEqual(await polling, [])
    })

    test('[POL-2] a lease lapses when its time has passed', async () => {
      const id = await send()
      assert.deepEqual(eventIds(await poll(service, agent.token)), [id])
      service.clock.set(-HOUR)
      assert.deepEqual(await poll(service, agent.token), [])
      await service.clock.advance(31_000)
      assert.deepEqual(eventIds(await poll(service, agent.token)), [id])
    })

    test('[POL-2] a delivery given back for a minute is due after a minute', async () => {
      const id = await send()
      const delivery_ids = ids(await poll(service, agent.token))
      await service.call('POST /v1/delivery/nack', {
        token: agent.token,
        body: { delivery_ids, retry_after_seconds: 60 },
      })
      service.clock.set(-HOUR)
      await service.clock.advance(62_000)
      // A poll passes over what the sweep is at in this moment.
      const found = await until(async () => {
        const deliveries = await poll(service, agent.token)
        return deliveries.length > 0 && deliveries
      })
      assert.deepEqual(eventIds(found), [id])
    })
  })
})

if (POSTGRES_URL) {
  test('[POL-3] a node whose clock is an hour ahead takes nothing that another holds', async () => {
    const service = await startService(postgres, { VISIBILITY_TIMEOUT_S: '900' }, realClock())
    const ahead = await service.another({}, realClock(HOUR))
    try {
      const tenant = await service.tenant()
      const agent = await tenant.agent()
      await interest(service, agent)
      const { body } = await publish(service, agent.token)
      assert.deepEqual(eventIds(await poll(service, agent.token)), [body.event_id])
      assert.deepEqual(await poll(ahead, agent.token), [], 'it is leased')

      // What the node that is ahead leases and signs is not out for an hour longer.
      await publish(ahead, agent.token)
      const [later] = await poll(ahead, agent.token)
      const tokens = await ahead.call('POST /v1/auth/token', { body: { api_key: agent.key } })
      const lasts = Date.parse(tokens.body.expires_at) - Date.now()
      // The database's clock is read over a connection: on a busy machine it is some milliseconds off.
      assert.ok(lasts > 0 && lasts <= HOUR + 60_000, `a token for ${lasts} ms`)
      const lease = await service.store.rows<{ due_at: number }>(
        'select due_at from deliveries where tenant_id = ? and id = ?',
        [tenant.id, later!.id],
      )
      assert.ok(lease[0]!.due_at <= Date.now() + 960_000)
    } finally {
      await ahead.stop()
      await service.stop()
    }
  })
}
