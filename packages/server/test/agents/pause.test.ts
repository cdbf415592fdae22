// A paused agent receives nothing, by poll, stream or push, and loses nothing.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setAgentPaused } from '../../src/agents/update.ts'
import { insertEvents } from '../../src/events/sql.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { asleep } from '../support/asleep.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { overOrWaiting } from '../support/over-or-waiting.ts'
import { startService, type Service, type TestAgent, type TestTenant } from '../support/service.ts'
import { turnsUntil } from '../support/turns-until.ts'
import { routingChanges } from '../channels/tools.ts'
import { openReader, outboundCalls, startReceiver, until } from '../outbound/tools.ts'

onBothEngines((engine) => {
  let service: Service
  let tenant: TestTenant
  let agent: TestAgent
  let calls: ReturnType<typeof outboundCalls>
  /** All sleeps on the clock, in milliseconds. */
  const slept: number[] = []

  before(async () => {
    const clock = fakeClock()
    const sleep: Clock['sleep'] = (ms, signal) => {
      slept.push(ms)
      return clock.sleep(ms, signal)
    }
    service = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on' }, { ...clock, sleep })
    calls = outboundCalls(service)
  })
  after(() => service.stop())
  beforeEach(async () => {
    tenant = await service.tenant()
    agent = await tenant.agent()
    await calls.interest(agent)
  })

  const set = (what: 'pause' | 'resume', id = agent.id, token = tenant.admin) =>
    service.call(`POST /v1/agents/${id}/${what}`, { token })

  test('[CON-15] polls of a paused agent are empty, events are queued, and delivered when it resumes', async () => {
    const first = await calls.publish(agent)
    const [held] = await calls.poll(agent)
    assert.deepEqual((await set('pause')).body, { paused: true })
    assert.deepEqual((await set('pause')).body, { paused: true })
    assert.equal((await service.call(`GET /v1/agents/${agent.id}`, { token: agent.token })).body.paused, true)
    const second = await calls.publish(agent)
    assert.deepEqual(await calls.poll(agent), [])
    assert.equal((await calls.queue(tenant, agent)).pending, 1)
    // The delivery that it holds may be acknowledged.
    assert.equal(held!.event_id, first)
    assert.equal(await calls.ack(agent, [held!.id]), 1)
    assert.deepEqual((await set('resume')).body, { paused: false })
    assert.deepEqual(
      (await calls.poll(agent)).map(({ event_id, attempt_count }) => [event_id, attempt_count]),
      [[second, 1]],
    )
    assert.equal((await service.call(`GET /v1/agents/${agent.id}`, { token: agent.token })).body.paused, false)
  })

  test('[CON-15] what an agent is already leaves its routing as it was', async () => {
    const changes = async () => (await routingChanges(service, tenant.id)).length
    const before = await changes()
    for (const [verb, recorded] of [
      ['resume', 0],
      ['pause', 1],
      ['pause', 1],
      ['activate', 1],
      ['deactivate', 2],
      ['deactivate', 2],
    ] as const) {
      assert.equal((await service.call(`POST /v1/agents/${agent.id}/${verb}`, { token: tenant.admin })).status, 200)
      assert.equal((await changes()) - before, recorded, verb)
    }
  })

  test('[CON-15] a poll that waits is woken when the agent resumes', async () => {
    await set('pause')
    await calls.publish(agent)
    const { result } = await asleep(service.clock, () =>
      service.call('GET /v1/delivery/poll?wait=20', { token: agent.token }),
    )
    let back = false
    void result.then(() => (back = true))
    await service.clock.advance(2_000)
    assert.equal(back, false)
    await set('resume')
    assert.equal((await result).body.count, 1)
  })

  test('[CON-15] a poll of a paused agent with lapsed leases does not keep reading the store', async () => {
    await calls.publish(agent)
    assert.equal((await calls.poll(agent)).length, 1)
    await set('pause')
    await service.clock.advance(31_000)
    slept.length = 0
    const { result } = await asleep(service.clock, () =>
      service.call('GET /v1/delivery/poll?wait=20', { token: agent.token }),
    )
    assert.ok(slept.includes(1_000) && Math.min(...slept) > 1, String(slept))
    await set('resume')
    assert.equal((await result).body.count, 1)
  })

  test('[CON-15] [HND-1] a poll that waits when the agent is paused is handed nothing until it resumes', async () => {
    const { result } = await asleep(service.clock, () =>
      service.call('GET /v1/delivery/poll?wait=20', { token: agent.token }),
    )
    let back = false
    void result.then(() => (back = true))
    await set('pause')
    // The poll reads the store again, and then sleeps as a paused one.
    await service.clock.rest()
    const id = await calls.publish(agent)
    await service.clock.advance(2_000)
    assert.equal(back, false)
    assert.equal((await calls.queue(tenant, agent)).pending, 1)
    await set('resume')
    assert.deepEqual(
      (await result).body.deliveries.map(({ event_id }: { event_id: string }) => event_id),
      [id],
    )
  })

  test('[HND-10] a poll that was not notified of the pause is handed nothing either, on any node', async (t) => {
    const other = engine.name === 'postgres' ? await service.another() : service
    if (other !== service) t.after(() => other.stop())
    // That node has the routing from before the pause in memory.
    const there = outboundCalls(other)
    await there.publish(agent)
    const [{ id } = { id: '' }] = await there.poll(agent)
    await there.ack(agent, [id])
    const { result } = await asleep(service.clock, () =>
      other.call('GET /v1/delivery/poll?wait=5', { token: agent.token }),
    )
    const unheard = { announce() {}, wakeups: { wake() {} } }
    await service.store.tx((tx) => setAgentPaused(tx, unheard, service.clock.now(), tenant.id, agent.id, true))
    await there.publish(agent)
    await service.clock.advance(5_000)
    assert.equal((await result).body.count, 0)
    assert.equal((await calls.queue(tenant, agent)).pending, 1)
  })

  test('[CON-15] a stream pauses and goes on', async () => {
    await set('pause')
    const reader = await openReader(service.url, agent.token)
    const id = await calls.publish(agent)
    await service.clock.advance(3_000)
    assert.equal(reader.waiting(), 0)
    await set('resume')
    assert.equal((await reader.next()).event_id, id)
    reader.close()
    await reader.ended
  })

  test('[CON-15] pushes pause and go on', async (t) => {
    const receiver = await startReceiver()
    t.after(() => receiver.stop())
    const pushed = await calls.pushed(tenant, receiver.url, 'for.push')
    await set('pause', pushed.id)
    const id = await calls.publish(agent, 'for.push')
    await service.clock.advance(3_000)
    assert.equal(receiver.all.length, 0)
    await set('resume', pushed.id)
    assert.equal((await receiver.next()).delivery.event_id, id)
    await until(async () => (await calls.rows(pushed))[0]?.state === 'acknowledged')
  })

  test('[CON-15] an admin or the agent itself may pause it, and no others', async () => {
    const plain = await tenant.agent({ scopes: ['receive'] })
    assert.equal((await set('pause', plain.id, plain.token)).status, 200)
    assert.equal((await set('resume', plain.id, plain.token)).status, 200)
    assertError(await set('pause', agent.id, plain.token), 'insufficient_scope', { required_scope: 'admin' })
    assertError(await set('pause', 'agt_nobody'), 'not_found')
    assertError(await set('pause', agent.id, (await service.tenant()).admin), 'not_found')
  })

  if (engine.name === 'postgres') {
    test('[CON-15] a pause holds on every node', async (t) => {
      const other = await service.another()
      t.after(() => other.stop())
      await calls.publish(agent)
      await set('pause')
      const there = await other.call('GET /v1/delivery/poll', { token: agent.token })
      assert.equal(there.body.count, 0)
      await set('resume')
      assert.equal((await other.call('GET /v1/delivery/poll', { token: agent.token })).body.count, 1)
    })
  }

  // With one writer nothing runs concurrently with a publish.
  if (engine.name === 'postgres') {
    test('[RACE-4] a publish that was under way hands nothing to a poll that came after the pause', async () => {
      const { store, clock } = service
      const row = { tenant_id: tenant.id, id: 'held', type: 't', source: '/', subject: null, sender_id: agent.id }
      const undone = new Error('undone')
      let publishing!: Promise<{ status: number }>
      let polling!: Promise<{ body: { count: number } }>
      const holding = store.tx(async (tx) => {
        // The publish of the same id waits for the outcome of this transaction.
        await insertEvents(tx, [{ ...row, envelope: '{}', causation_id: null, received_at: clock.now(), place: 0 }])
        const body = { specversion: '1.0', type: 'com.example.held', source: '/tests', id: 'held' }
        publishing = service.call('POST /v1/events', { token: agent.token, body })
        await overOrWaiting(store, publishing)
        assert.equal((await set('pause')).status, 200)
        const others = clock.sleepers()
        polling = service.call('GET /v1/delivery/poll?wait=20', { token: agent.token })
        await turnsUntil(() => clock.sleepers() > others)
        throw undone
      })
      await assert.rejects(holding, undone)
      assert.equal((await publishing).status, 202)
      await clock.advance(20_000)
      assert.equal((await polling).body.count, 0)
      assert.equal((await calls.queue(tenant, agent)).pending, 1)
    })
  }
})
