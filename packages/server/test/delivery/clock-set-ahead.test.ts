// The machine's clock is set ahead under a running node, or the machine slept: no lease and no delay ends early.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { ack, eventIds, ids } from '../events/tools.ts'
import { clockSuite } from './clock-suite.ts'

const TEN_MINUTES = 600_000

onBothEngines((engine) => {
  describe('a clock that is set ahead by ten minutes', () => {
    const suite = clockSuite(engine, { MAX_ATTEMPTS: '2' })
    before(() => suite.service.clock.holdSteps())

    test('[CLK-2] a lease runs on, before and after the step is adopted, and ends after its own time', async () => {
      const { clock } = suite.service
      const id = await suite.send()
      const held = await suite.poll()
      const start = clock.now()
      clock.set(TEN_MINUTES)
      assert.deepEqual(await suite.poll(), [])
      await clock.advance(1_000)
      await suite.service.app.runOnce.moveWithClock()
      assert.equal(clock.now() - start, TEN_MINUTES + 1_000)
      assert.deepEqual(await suite.poll(), [])
      await clock.advance(28_000)
      assert.deepEqual(await suite.poll(), [])
      await clock.advance(2_000)
      assert.deepEqual(eventIds(await suite.poll()), [id])
      assert.equal(await ack(suite.service, suite.agent.token, ids(held)), 1)
    })

    test('[CLK-2] the last lease of a delivery does not end it before the lease’s time has passed', async () => {
      const { clock } = suite.service
      await suite.send()
      await suite.poll()
      await clock.advance(31_000)
      const again = await suite.poll()
      assert.equal(again[0]!.attempt_count, 2)
      clock.set(TEN_MINUTES)
      await suite.service.app.runOnce.moveWithClock()
      await suite.service.app.runOnce.sweepLapsed()
      assert.equal(await ack(suite.service, suite.agent.token, ids(again)), 1, 'it is no dead letter')
    })

    test('[CLK-2] a delivery that was given back for a minute waits for a minute', async () => {
      const { clock } = suite.service
      const id = await suite.send()
      const delivery_ids = ids(await suite.poll())
      const body = { delivery_ids, retry_after_seconds: 60 }
      await suite.service.call('POST /v1/delivery/nack', { token: suite.agent.token, body })
      clock.set(TEN_MINUTES)
      await suite.service.app.runOnce.moveWithClock()
      await clock.advance(55_000)
      assert.deepEqual(await suite.poll(), [])
      await clock.advance(7_000)
      assert.deepEqual(eventIds(await suite.poll()), [id])
    })

    test('[CLK-2] a lease that lapsed before the step stays lapsed', async () => {
      const { clock } = suite.service
      const id = await suite.send()
      await suite.poll()
      await clock.advance(31_000)
      clock.set(TEN_MINUTES)
      await suite.service.app.runOnce.moveWithClock()
      assert.deepEqual(eventIds(await suite.poll()), [id])
    })
  })
})
