// The machine's clock is set ahead under a running node: an endpoint that asked for time, or that fails, gets its time.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { OPENS_AFTER } from '../../src/outbound/breaker.ts'
import { onBothEngines } from '../support/engines.ts'
import { pushSuite } from './push-suite.ts'
import { until } from './tools.ts'

const TEN_MINUTES = 600_000

onBothEngines((engine) => {
  const suite = pushSuite(engine)
  before(() => suite.service.clock.holdSteps())

  async function setAhead(): Promise<void> {
    suite.service.clock.set(TEN_MINUTES)
    await suite.service.app.runOnce.moveWithClock()
  }

  test('[CLK-2] [PUSH-8] an endpoint that asked for 40 s is left alone for as long', async () => {
    const { service, receiver, calls } = suite
    receiver.answer = () => ({ status: 503, headers: { 'retry-after': '40' } })
    const agent = await calls.pushed(suite.tenant, receiver.url)
    await calls.publish(agent)
    await receiver.next()
    await calls.state(agent, 'waiting')
    await calls.publish(agent)
    receiver.answer = () => 200
    await setAhead()
    await service.clock.advance(38_000)
    assert.equal(receiver.all.length, 1)
    await service.clock.advance(3_000)
    await until(async () => (await calls.rows(agent)).every((row) => row.state === 'acknowledged'))
  })

  test('[CLK-2] [POL-8] an open breaker stays open for its minute, and the queue shows the time of a success', async () => {
    const { service, receiver, calls, tenant } = suite
    const agent = await calls.pushed(tenant, receiver.url)
    const push = async (): Promise<Record<string, unknown>> => (await calls.queue(tenant, agent)).push
    receiver.answer = () => 500
    for (let i = 0; i < OPENS_AFTER; i++) {
      await calls.publish(agent)
      await receiver.next()
      await until(async () => (await push())['consecutive_failures'] === i + 1)
    }
    await calls.publish(agent)
    receiver.answer = () => 200
    await setAhead()
    await service.clock.advance(58_000)
    assert.deepEqual([receiver.all.length, (await push())['state']], [OPENS_AFTER, 'open'])
    const before = service.clock.now()
    await service.clock.advance(3_000)
    await until(async () => (await push())['state'] === 'closed')
    const succeededAt = Date.parse((await push())['last_success_at'] as string)
    assert.ok(succeededAt > before && succeededAt <= service.clock.now(), String(succeededAt - before))
  })
})
