// A dead endpoint delays no others, nodes share pushes, and a shutdown gives back those under way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { startService } from '../support/service.ts'
import { outboundCalls, startReceiver, until } from './tools.ts'

onBothEngines((engine) => {
  test('[PUSH-10] [FAIR-2] endpoints that hang delay no others, of the same tenant or of another', async (t) => {
    const service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on' })
    t.after(() => service.stop())
    const calls = outboundCalls(service)
    const tenant = await service.tenant()
    const elsewhere = await service.tenant()
    const hanging = await startReceiver()
    t.after(() => hanging.stop())
    hanging.answer = () => null
    const good = await startReceiver()
    t.after(() => good.stop())
    const stuck = await Promise.all(Array.from({ length: 50 }, () => calls.pushed(tenant, hanging.url, 'stuck.*')))
    for (let i = 0; i < 5; i++) await calls.publish(stuck[0]!, 'stuck.thing')
    await until(() => hanging.all.length >= 50, 'every hanging endpoint has one request')
    // The clock stands still, so no request times out; the other endpoints are still pushed to.
    for (const home of [tenant, elsewhere]) {
      const agent = await calls.pushed(home, good.url, 'good.*')
      for (let i = 0; i < 40; i++) await calls.publish(agent, 'good.thing')
      await until(async () => (await calls.rows(agent)).every((row) => row.state === 'acknowledged'), 'the good ones')
    }
    assert.equal(hanging.all.length, 50, 'an endpoint that never answered has one request at a time')
  })

  test('[FAIR-4] [FAIR-2] large deliveries to endpoints that hang leave memory for others', async (t) => {
    const service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on' })
    t.after(() => service.stop())
    const calls = outboundCalls(service)
    const tenant = await service.tenant()
    const elsewhere = await service.tenant()
    const hanging = await startReceiver()
    t.after(() => hanging.stop())
    let respond = (_status: number): void => {}
    const responded = new Promise<number>((resolve) => (respond = resolve))
    hanging.answer = () => responded
    const good = await startReceiver()
    t.after(() => good.stop())
    const stuck = await Promise.all(Array.from({ length: 36 }, () => calls.pushed(tenant, hanging.url, 'stuck')))
    await calls.publish(stuck[0]!, 'stuck', 'x'.repeat(990_000))
    // New endpoints of a tenant share 32 MB.
    await until(() => hanging.all.length >= 32, 'as many requests as there is memory for')
    for (const home of [tenant, elsewhere]) {
      const agent = await calls.pushed(home, good.url, 'good')
      for (let i = 0; i < 3; i++) await calls.publish(agent, 'good', 'x'.repeat(990_000))
      // A new endpoint of the same tenant waits; one of another tenant does not.
      if (home === elsewhere) await calls.state(agent, 'acknowledged')
    }
    assert.equal(hanging.all.length, 32)
    respond(204)
    await until(() => hanging.all.length === 36 && good.all.length === 6, 'the others, with the memory that came back')
  })

  test('[PUSH-10] a lease outlasts the request even when the visibility timeout is shorter', async (t) => {
    const service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on', VISIBILITY_TIMEOUT_S: '1' })
    t.after(() => service.stop())
    const calls = outboundCalls(service)
    const tenant = await service.tenant()
    const receiver = await startReceiver()
    t.after(() => receiver.stop())
    let finish = (_status: number): void => {}
    receiver.answer = () => new Promise((resolve) => (finish = resolve))
    const agent = await calls.pushed(tenant, receiver.url)
    await calls.publish(agent)
    await until(() => receiver.all.length === 1)
    await service.clock.advance(14_000)
    assert.deepEqual(await calls.poll(agent), [])
    finish(200)
    const row = await calls.state(agent, 'acknowledged')
    assert.deepEqual([row.attempts, receiver.all.length], [1, 1])
  })

  test('[PUSH-1] a push cut off by a shutdown is given back, and the next start makes the next attempt', async (t) => {
    const service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on' })
    t.after(() => service.stop())
    const calls = outboundCalls(service)
    const tenant = await service.tenant()
    const receiver = await startReceiver()
    t.after(() => receiver.stop())
    receiver.answer = () => null
    const agent = await calls.pushed(tenant, receiver.url)
    await calls.publish(agent)
    await until(() => receiver.all.length === 1)
    const stopping = service.restart()
    receiver.answer = () => 200
    const again = await stopping
    t.after(() => again.stop())
    await again.clock.advance(1_000)
    await until(() => receiver.all.length === 2)
    assert.equal(receiver.all[1]!.delivery.attempt_count, 2)
    await outboundCalls(again).state(agent, 'acknowledged')
  })

  if (engine.name === 'postgres') {
    test('[PUSH-1] two nodes share the pushes of one agent, each delivery once', async (t) => {
      const service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on' })
      t.after(() => service.stop())
      const other = await service.another()
      t.after(() => other.stop())
      const calls = outboundCalls(service)
      const tenant = await service.tenant()
      const receiver = await startReceiver()
      t.after(() => receiver.stop())
      const agent = await calls.pushed(tenant, receiver.url)
      await Promise.all(Array.from({ length: 200 }, () => calls.publish(agent)))
      await until(async () => {
        await service.clock.advance(500)
        return (await calls.rows(agent)).every((row) => row.state === 'acknowledged')
      })
      assert.equal(receiver.all.length, 200)
      assert.equal(new Set(receiver.all.map(({ delivery }) => delivery.id)).size, 200)
      const signatures = new Set(
        receiver.all.map(({ headers }) => (headers['webhook-signature'] as string).split(' ').length),
      )
      assert.deepEqual([...signatures], [1], 'both nodes sign with the one secret that the first push made')
      const secrets = await service.store.rows('select number from push_secrets where agent_id = ?', [agent.id])
      assert.equal(secrets.length, 1)
    })
  }
})
