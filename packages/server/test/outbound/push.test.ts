// Pushes: what is sent, and what each response does to the delivery.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Delivery } from '@sensorium/contract'
import { OPENS_AFTER } from '../../src/outbound/breaker.ts'
import { onBothEngines } from '../support/engines.ts'
import type { Service, TestTenant } from '../support/service.ts'
import { pushSuite, type PushSuite } from './push-suite.ts'
import { startReceiver, until, type Receiver } from './tools.ts'

/** How often the service looks for deliveries that have become due. */
const SWEEP_MS = 1_000

onBothEngines((engine) => {
  const suite = pushSuite(engine)
  let service: Service
  let tenant: TestTenant
  let receiver: Receiver
  let calls: PushSuite['calls']
  beforeEach(() => {
    ;({ service, tenant, receiver, calls } = suite)
  })

  test('[PUSH-1] [PUSH-7] a delivery is POSTed as Delivery JSON, and 2xx acknowledges it', async () => {
    for (const status of [200, 201, 204, 299]) {
      receiver.answer = () => status
      const agent = await calls.pushed(tenant, `${receiver.url}?a=1`, `type.${status}`)
      const eventId = await calls.publish(agent, `type.${status}`, { text: 'grüße\n', n: 5 })
      const received = await receiver.next()
      assert.equal(`${received.method} ${received.path}`, 'POST /inbox?a=1')
      assert.equal(received.headers['content-type'], 'application/json')
      const { id, created_at, ...rest } = received.delivery
      assert.match(id, /^dlv_/)
      assert.ok(Date.parse(created_at) > 0)
      assert.deepEqual(rest, {
        event_id: eventId,
        payload: {
          specversion: '1.0',
          type: `type.${status}`,
          source: '/tests',
          id: eventId,
          data: { text: 'grüße\n', n: 5 },
        },
        attempt_count: 1,
      })
      await calls.state(agent, 'acknowledged')
      const events = await service.call<{ events: { delivery_id: string }[] }>(`GET /v1/agents/${agent.id}/events`, {
        token: agent.token,
      })
      assert.deepEqual(
        events.body.events.map((event) => event.delivery_id),
        [id],
      )
    }
    const usage = await service.call<{ days: { acknowledgements: number }[] }>(
      `GET /operator/usage?tenant=${tenant.slug}`,
      { token: 'operator-token-for-tests' },
    )
    assert.equal(usage.body.days[0]!.acknowledgements, 4)
  })

  test('[PUSH-1] [PUSH-9] agents are pushed to once they are active, on push, and have an endpoint', async () => {
    const agent = await tenant.agent({ mode: 'push' })
    await calls.interest(agent)
    await calls.publish(agent)
    await service.clock.advance(2_000)
    assert.equal((await calls.rows(agent))[0]!.state, 'ready')
    await service.call(`POST /v1/agents/${agent.id}/deactivate`, { token: tenant.admin })
    await calls.setMode(tenant, agent, 'push', receiver.url)
    await service.clock.advance(2_000)
    assert.equal(receiver.all.length, 0)
    await service.call(`POST /v1/agents/${agent.id}/activate`, { token: tenant.admin })
    assert.equal((await receiver.next()).delivery.attempt_count, 1)
    await calls.state(agent, 'acknowledged')
  })

  for (const status of [429, 503]) {
    test(`[PUSH-8] ${status} delays the next attempt by its Retry-After, in seconds or as a date`, async () => {
      const agent = await calls.pushed(tenant, receiver.url)
      for (const header of ['40', () => new Date(service.clock.now() + 40_000).toUTCString()]) {
        receiver.answer = () => ({ status, headers: { 'retry-after': typeof header === 'string' ? header : header() } })
        await calls.publish(agent)
        const { delivery } = await receiver.next()
        const row = await calls.state(agent, 'waiting')
        assert.ok(
          Math.abs(row.due_at! - service.clock.now() - 40_000) <= 1_000,
          String(row.due_at! - service.clock.now()),
        )
        assert.equal(row.last_error, `HTTP ${status}`)
        // The delay holds for the whole endpoint: a new delivery waits as well, and uses up no attempt.
        await calls.publish(agent)
        receiver.answer = () => 200
        const before = receiver.all.length
        await service.clock.advance(38_000)
        assert.equal(receiver.all.length, before)
        await service.clock.advance(3_000)
        const two = [(await receiver.next()).delivery, (await receiver.next()).delivery]
        assert.deepEqual(two.map((d) => [d.id === delivery.id, d.attempt_count]).sort(), [
          [false, 1],
          [true, 2],
        ])
        await until(async () => (await calls.rows(agent)).every((row) => row.state === 'acknowledged'))
      }
    })
  }

  test('[PUSH-9] 410 switches the agent to poll; its deliveries stay and can be polled', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    receiver.answer = () => 410
    await calls.publish(agent)
    await receiver.next()
    const shown = (): Promise<{ delivery_mode: string; delivery_endpoint: string }> =>
      service.call(`GET /v1/agents/${agent.id}`, { token: agent.token }).then((reply) => reply.body)
    await until(async () => (await shown()).delivery_mode === 'poll')
    assert.equal((await shown()).delivery_endpoint, receiver.url)
    await calls.publish(agent)
    await service.clock.advance(2_000)
    assert.equal(receiver.all.length, 1)
    const polled = await calls.poll(agent)
    assert.deepEqual(
      polled.map((delivery) => delivery.attempt_count),
      [2, 1],
    )
    assert.equal(
      await calls.ack(
        agent,
        polled.map((delivery) => delivery.id),
      ),
      2,
    )
  })

  test('[PUSH-9] [CON-6] 410 on the last attempt dead-letters nothing and is no failure', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    receiver.answer = ({ delivery }) => (delivery.attempt_count < 5 ? 500 : 410)
    await calls.publish(agent)
    for (let attempt = 1; attempt <= 5; attempt++) {
      assert.equal((await receiver.next()).delivery.attempt_count, attempt)
      if (attempt === 5) break
      await service.clock.jump((await calls.state(agent, 'waiting')).due_at! - service.clock.now())
      await service.clock.advance(SWEEP_MS)
    }
    const row = await calls.state(agent, 'ready')
    assert.deepEqual([row.attempts, row.last_error, row.dlq_reason], [5, 'HTTP 410', null])
    await service.app.runOnce.flushActivity()
    const { body } = await service.call<{ minutes: { failures: number; dead_letters: number }[] }>(
      'GET /v1/stats?minutes=120',
      {
        token: await tenant.token(tenant.adminKey),
      },
    )
    const sum = (what: 'failures' | 'dead_letters') => body.minutes.reduce((total, minute) => total + minute[what], 0)
    assert.deepEqual([sum('failures'), sum('dead_letters')], [4, 0])
    agent.token = await tenant.token(agent.key)
    const [polled] = await calls.poll(agent)
    assert.equal(await calls.ack(agent, [polled!.id]), 1)
  })

  test('[POL-6] [PUSH-10] [PUSH-11] a failing push is retried on schedule, then dead-lettered', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    let tried = 0
    receiver.answer = () => {
      tried = service.clock.now()
      return 502
    }
    await calls.publish(agent)
    for (let attempt = 1; attempt < 5; attempt++) {
      assert.equal((await receiver.next()).delivery.attempt_count, attempt)
      const row = await calls.state(agent, 'waiting')
      const wait = row.due_at! - tried
      const planned = [5_000, 60_000, 600_000, 3_600_000][attempt - 1]!
      assert.ok(wait >= planned * 0.8 && wait <= planned * 1.2 + SWEEP_MS, `attempt ${attempt} waits ${wait}`)
      await service.clock.jump(row.due_at! - service.clock.now() - 1)
      assert.equal(receiver.all.length, attempt, 'not a millisecond before it is due')
      await service.clock.advance(SWEEP_MS)
    }
    const dead = await calls.state(agent, 'dead_lettered')
    assert.match(dead.dlq_reason!, /^Push failed after 5 attempts over \d+ min; last error: HTTP 502$/)
    const list = await service.call<{ dlq_items: { attempt_count: number }[] }>('GET /v1/delivery/dlq', {
      token: await tenant.token(agent.key),
    })
    assert.equal(list.body.dlq_items[0]!.attempt_count, 5)
  })

  test('[PUSH-10] no answer in 15 seconds is a failed attempt', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    let arrived = (): void => {}
    const came = new Promise<void>((resolve) => (arrived = resolve))
    receiver.answer = () => (arrived(), null)
    await calls.publish(agent)
    await came
    await service.clock.advance(14_900)
    assert.equal((await calls.rows(agent))[0]!.state, 'leased')
    await service.clock.advance(200)
    assert.equal((await calls.state(agent, 'waiting')).last_error, 'no response within 15 s')
  })

  test('[DLV-4] [PUSH-9] a late response to a push from before a replay does not end the current lease', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    let answer = (_status: number): void => {}
    const arrived = new Promise<void>((resolve) => {
      receiver.answer = () => (resolve(), new Promise<number>((given) => (answer = given)))
    })
    await calls.publish(agent)
    await arrived
    const { id } = (await calls.rows(agent))[0]!
    await service.call('POST /v1/delivery/nack', {
      token: agent.token,
      body: { delivery_ids: [id], dead_letter: true },
    })
    await calls.setMode(tenant, agent, 'poll', receiver.url)
    assert.equal((await service.call(`POST /v1/delivery/dlq/${id}/replay`, { token: agent.token })).status, 200)
    const [held] = await calls.poll(agent)
    assert.deepEqual([held!.id, held!.attempt_count], [id, 1])
    answer(500)
    await until(
      async () => /^sensorium_push_under_way 0$/m.test((await service.call('GET /metrics')).text),
      'the old push to end',
    )
    for (let i = 0; i < 20; i++) assert.equal((await calls.rows(agent))[0]!.state, 'leased')
    assert.equal(await calls.ack(agent, [id]), 1)
  })

  test('[PUSH-10] a refused connection is a failed attempt', async () => {
    const agent = await calls.pushed(tenant, 'http://127.0.0.1:1/')
    await calls.publish(agent)
    assert.match((await calls.state(agent, 'waiting')).last_error!, /ECONNREFUSED/)
  })

  test('[PUSH-12] redirects are not followed and count as a failed attempt', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    const other = await startReceiver()
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.answer = () => ({ status, headers: { location: other.url } })
      await calls.publish(agent, `t.${status}`)
      await until(async () =>
        (await calls.rows(agent)).some((row) => row.state === 'waiting' && row.last_error === `HTTP ${status}`),
      )
    }
    assert.equal(other.all.length, 0)
    await other.stop()
  })

  test('[PUSH-10] a body without end holds nothing up, and its status counts', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    receiver.answer = (_received, response) => {
      response.writeHead(200)
      const more = (): void => void (response.destroyed || response.write('x'.repeat(65_536), () => setImmediate(more)))
      more()
      return null
    }
    await calls.publish(agent)
    await calls.state(agent, 'acknowledged')
  })

  test('connections are kept alive, and one that the endpoint closed is no failed attempt', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    for (let i = 0; i < 5; i++) {
      await calls.publish(agent)
      await receiver.next()
      await until(async () => (await calls.rows(agent)).every((row) => row.state === 'acknowledged'))
    }
    assert.equal(receiver.connections(), 1)
  })

  test('[POL-8] the breaker opens, tries one push a minute and closes, and queue and metrics show it', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    receiver.answer = () => 500
    const push = async (): Promise<Record<string, unknown>> => (await calls.queue(tenant, agent)).push
    assert.deepEqual(await push(), {
      state: 'closed',
      consecutive_failures: 0,
      last_status: null,
      last_error: null,
      last_success_at: null,
      latency_ms: null,
    })
    for (let i = 0; i < OPENS_AFTER; i++) {
      await calls.publish(agent)
      await receiver.next()
      await until(async () => (await push())['consecutive_failures'] === i + 1)
    }
    const open = await push()
    assert.deepEqual(
      [open['state'], open['last_status'], open['last_error'], open['last_success_at']],
      ['open', 500, 'HTTP 500', null],
    )
    assert.ok((open['latency_ms'] as number) > 0)
    assert.match((await service.call('GET /metrics')).text, /^sensorium_push_endpoints_open [1-9]/m)
    await calls.publish(agent)
    await service.clock.advance(59_000)
    assert.equal(receiver.all.length, OPENS_AFTER)
    // Deliveries that waited are due but not tried: no attempt is used up.
    assert.equal((await calls.rows(agent)).filter((row) => row.attempts === 1).length, OPENS_AFTER)
    let probed = (): void => {}
    const probe = new Promise<void>((resolve) => (probed = resolve))
    receiver.answer = () => (probed(), null)
    await service.clock.advance(1_000)
    await probe
    assert.equal((await push())['state'], 'half_open')
    assert.equal(receiver.all.length, OPENS_AFTER + 1)
    receiver.answer = () => 200
    await service.clock.advance(15_000)
    assert.equal((await push())['state'], 'open')
    // The next probe is due a minute after the last, and waiting deliveries follow when they are due.
    await service.clock.advance(120_000)
    await until(async () => (await calls.rows(agent)).every((row) => row.state === 'acknowledged'))
    assert.deepEqual(
      [(await push())['state'], (await push())['consecutive_failures'], (await push())['last_error']],
      ['closed', 0, null],
    )
    assert.match((await service.call('GET /metrics')).text, /sensorium_push_seconds_count\{outcome="acknowledged"\} \d/)
  })

  test('an agent may settle a delivery itself while its push is under way', async () => {
    const agent = await calls.pushed(tenant, receiver.url)
    receiver.answer = async ({ delivery }: { delivery: Delivery }) => {
      assert.equal(await calls.ack(agent, [delivery.id]), 1)
      return 500
    }
    await calls.publish(agent)
    await receiver.next()
    await until(async () => (await calls.queue(tenant, agent)).push['last_status'] === 500)
    assert.equal((await calls.rows(agent))[0]!.state, 'acknowledged')
  })
})
