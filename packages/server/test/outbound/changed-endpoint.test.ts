// An agent that gets another endpoint: what the old one did says nothing about the new one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPENS_AFTER } from '../../src/outbound/breaker.ts'
import { onBothEngines } from '../support/engines.ts'
import { pushSuite } from './push-suite.ts'
import { startReceiver, until } from './tools.ts'

onBothEngines((engine) => {
  const suite = pushSuite(engine)

  async function start(t: { after(end: () => Promise<void>): void }) {
    const { service, tenant, receiver: old, calls } = suite
    const good = await startReceiver()
    t.after(() => good.stop())
    const agent = await calls.pushed(tenant, old.url)
    const health = async () => (await calls.queue(tenant, agent)).push
    return { service, tenant, old, good, calls, agent, health }
  }

  test('[PUSH-17] a Retry-After of the old endpoint does not hold for the new one', async (t) => {
    const { service, tenant, old, good, calls, agent, health } = await start(t)
    old.answer = () => ({ status: 503, headers: { 'retry-after': '3600' } })
    await calls.publish(agent)
    await until(async () => (await health())['last_status'] === 503)
    await calls.publish(agent)
    // A change of anything else is no reason to try again.
    const body = { name: 'Renamed', delivery_endpoint: old.url }
    assert.equal((await service.call(`PATCH /v1/agents/${agent.id}`, { token: tenant.admin, body })).status, 200)
    await service.clock.advance(5_000)
    assert.deepEqual([old.all.length, (await health())['last_status']], [1, 503])
    await calls.setMode(tenant, agent, 'push', good.url)
    await until(async () => (await health())['last_status'] === 204)
    const { last_error, consecutive_failures, state } = await health()
    assert.deepEqual([last_error, consecutive_failures, state], [null, 0, 'closed'])
    assert.deepEqual([old.all.length, good.all.length], [1, 1])
  })

  test('[PUSH-17] an open breaker of the old endpoint is closed for the new one', async (t) => {
    const { tenant, old, good, calls, agent, health } = await start(t)
    old.answer = () => 500
    for (let i = 1; i <= OPENS_AFTER; i++) {
      await calls.publish(agent)
      await until(async () => (await health())['consecutive_failures'] === i)
    }
    assert.equal((await health())['state'], 'open')
    await calls.publish(agent)
    await calls.setMode(tenant, agent, 'push', good.url)
    await until(async () => (await health())['last_status'] === 204)
    assert.deepEqual([old.all.length, good.all.length], [OPENS_AFTER, 1])
  })

  test('[PUSH-17] requests that hang at the old endpoint neither delay the new one nor count for it', async (t) => {
    const { service, tenant, old, good, calls, agent, health } = await start(t)
    let respond = (_status: number): void => {}
    old.answer = () => new Promise((resolve) => (respond = resolve))
    await calls.publish(agent)
    await until(() => old.all.length === 1)
    await calls.setMode(tenant, agent, 'push', good.url)
    await calls.publish(agent)
    await until(async () => (await health())['last_status'] === 204)
    respond(500)
    assert.equal((await calls.state(agent, 'waiting')).last_error, 'HTTP 500')
    await until(() => service.gauge('sensorium_push_under_way') === 0)
    const { last_status, consecutive_failures } = await health()
    assert.deepEqual([last_status, consecutive_failures], [204, 0])
  })

  test('[PUSH-17] another path of the same origin keeps the breaker, and drops a Retry-After', async (t) => {
    const { tenant, old, calls, agent, health } = await start(t)
    old.answer = () => ({ status: 503, headers: { 'retry-after': '3600' } })
    await calls.publish(agent)
    await until(async () => (await health())['last_status'] === 503)
    old.answer = () => 500
    for (let i = 1; i <= OPENS_AFTER; i++) {
      await calls.setMode(tenant, agent, 'push', `${old.url}?${i}`)
      await calls.publish(agent)
      await until(async () => (await health())['consecutive_failures'] === i)
    }
    assert.equal((await health())['state'], 'open')
    await calls.setMode(tenant, agent, 'push', `${old.url}/another`)
    await until(async () => (await health())['last_status'] === null)
    assert.deepEqual([(await health())['state'], old.all.length], ['open', OPENS_AFTER + 1])
  })

  test('[PUSH-17] the response of the path before is not shown for the new one, and counts for the breaker', async (t) => {
    const { tenant, old, calls, agent, health } = await start(t)
    let respond = (_status: number): void => {}
    old.answer = () => new Promise((resolve) => (respond = resolve))
    await calls.publish(agent)
    await until(() => old.all.length === 1)
    await calls.setMode(tenant, agent, 'push', `${old.url}/another`)
    respond(500)
    await until(async () => (await health())['consecutive_failures'] === 1)
    assert.deepEqual([(await health())['last_status'], (await health())['last_error']], [null, null])
  })

  async function pauseFor(ms: number, { id }: { id: string }): Promise<void> {
    const { service, tenant } = suite
    for (const step of ['pause', 'resume'] as const) {
      const { status } = await service.call(`POST /v1/agents/${id}/${step}`, { token: tenant.admin })
      assert.equal(status, 200)
      await service.clock.advance(step === 'pause' ? ms : 5_000)
    }
  }

  test('[PUSH-17] an agent that is paused and resumed has the breaker that it had', async (t) => {
    const { service, old, calls, agent, health } = await start(t)
    old.answer = () => 500
    for (let i = 1; i <= OPENS_AFTER; i++) {
      await calls.publish(agent)
      await until(async () => (await health())['consecutive_failures'] === i)
    }
    for (let i = 0; i < 3; i++) await calls.publish(agent)
    await pauseFor(61_000, agent)
    await until(() => old.all.length > OPENS_AFTER)
    await service.clock.advance(5_000)
    assert.equal(old.all.length, OPENS_AFTER + 1)
  })

  test('[PUSH-17] a Retry-After holds for an agent that is paused and resumed', async (t) => {
    const { old, calls, agent, health } = await start(t)
    old.answer = () => ({ status: 503, headers: { 'retry-after': '3600' } })
    await calls.publish(agent)
    await until(async () => (await health())['last_status'] === 503)
    await calls.publish(agent)
    await pauseFor(1_000, agent)
    assert.deepEqual([old.all.length, (await health())['last_status']], [1, 503])
  })

  test('[PUSH-17] a change that was not announced is found by the scan', async (t) => {
    const { service, tenant, old, good, calls, agent, health } = await start(t)
    old.answer = () => ({ status: 429, headers: { 'retry-after': '3600' } })
    await calls.publish(agent)
    await until(async () => (await health())['last_status'] === 429)
    await service.store.tx((tx) =>
      tx.run('update agents set delivery_endpoint = ? where tenant_id = ? and id = ?', [good.url, tenant.id, agent.id]),
    )
    await calls.publish(agent)
    await service.clock.advance(1_000)
    await until(() => good.all.length === 1, 'a push to the new endpoint')
  })
})
