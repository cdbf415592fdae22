// The clock of the machine is set ahead under a running node, or the machine slept: no lease and no delay is over by it.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'
import { ack, eventIds, ids, interest, poll, publish } from '../events/tools.ts'
import { until } from '../outbound/tools.ts'

const TEN_MINUTES = 600_000

onBothEngines((engine) => {
  describe('a clock that is set ahead by ten minutes', () => {
    let service: Service
    let tenant: TestTenant
    let agent: TestAgent

    before(async () => {
      service = await startService(engine, { VISIBILITY_TIMEOUT_S: '30', MAX_ATTEMPTS: '2' })
      service.clock.holdSteps()
      tenant = await service.tenant()
    })
    after(() => service.stop())
    beforeEach(async () => {
      agent = await tenant.agent()
      await interest(service, agent, { event_type: agent.id })
    })

    const send = async (): Promise<string> =>
      (await publish(service, agent.token, { type: agent.id })).body.event_id as string

    /** What comes once the time has passed. A poll passes over what the sweep is at in this moment. */
    const comes = async (): Promise<string[]> =>
      eventIds(
        await until(async () => {
          const deliveries = await poll(service, agent.token)
          return deliveries.length > 0 && deliveries
        }),
      )

    test('[CLK-2] a lease runs on, before the step is taken over and after, and ends when its time has passed', async () => {
      const id = await send()
      const held = await poll(service, agent.token)
      const start = service.clock.now()
      service.clock.set(TEN_MINUTES)
      assert.deepEqual(await poll(service, agent.token), [])
      await service.clock.advance(1_000)
      await service.app.runOnce.moveWithClock()
      assert.equal(service.clock.now() - start, TEN_MINUTES + 1_000)
      assert.deepEqual(await poll(service, agent.token), [])
      await service.clock.advance(28_000)
      assert.deepEqual(await poll(service, agent.token), [])
      await service.clock.advance(2_000)
      assert.deepEqual(await comes(), [id])
      assert.equal(await ack(service, agent.token, ids(held)), 1)
    })

    test('[CLK-2] the last lease of a delivery is not its end before its time has passed', async () => {
      await send()
      await poll(service, agent.token)
      await service.clock.advance(31_000)
      const again = await poll(service, agent.token)
      assert.equal(again[0]!.attempt_count, 2)
      service.clock.set(TEN_MINUTES)
      await service.app.runOnce.moveWithClock()
      await service.app.runOnce.sweepLapsed()
      assert.equal(await ack(service, agent.token, ids(again)), 1, 'it is no dead letter')
    })

    test('[CLK-2] a delivery that was given back for a minute waits for a minute', async () => {
      const id = await send()
      const delivery_ids = ids(await poll(service, agent.token))
      const body = { delivery_ids, retry_after_seconds: 60 }
      await service.call('POST /v1/delivery/nack', { token: agent.token, body })
      service.clock.set(TEN_MINUTES)
      await service.app.runOnce.moveWithClock()
      await service.clock.advance(55_000)
      assert.deepEqual(await poll(service, agent.token), [])
      await service.clock.advance(7_000)
      assert.deepEqual(await comes(), [id])
    })

    test('[CLK-2] what was over before stays over', async () => {
      const id = await send()
      await poll(service, agent.token)
      await service.clock.advance(31_000)
      service.clock.set(TEN_MINUTES)
      await service.app.runOnce.moveWithClock()
      assert.deepEqual(await comes(), [id])
    })
  })
})
