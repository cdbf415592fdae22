// Streams: what they carry, how much they hold, and how they end.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { assertError } from '../support/expect.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, startService, type TestAgent, type TestTenant } from '../support/service.ts'
import { openReader, outboundCalls, until, type Reader } from './tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let tenant: TestTenant
  let agent: TestAgent
  const calls = outboundCalls(service)
  beforeEach(async () => {
    tenant = await service.tenant()
    agent = await tenant.agent({ mode: 'sse' })
    await calls.interest(agent)
  })

  const open = (query = '', who = agent): Promise<Reader> => openReader(service.url, who.token, query)
  const closed = async (reader: Reader): Promise<void> => {
    reader.close()
    await reader.ended
  }

  test('[SSE-1] deliveries, old and new, come as events with id and Delivery, highest priority first', async () => {
    const before = await calls.publish(agent, 'com.example.a', { text: 'line\nbreak' })
    const reader = await open()
    assert.equal(reader.status, 200)
    assert.match(reader.headers['content-type']!, /^text\/event-stream/)
    assert.match(reader.headers['x-request-id'] as string, /./)
    const first = await reader.next()
    assert.equal(first.event_id, before)
    assert.deepEqual(first.payload, {
      specversion: '1.0',
      type: 'com.example.a',
      source: '/tests',
      id: before,
      data: { text: 'line\nbreak' },
    })
    assert.equal(first.attempt_count, 1)
    const after = await calls.publish(agent)
    assert.equal((await reader.next()).event_id, after)
    assert.equal((await calls.rows(agent)).filter((row) => row.state === 'leased').length, 2)
    assert.deepEqual(await calls.poll(agent), [])
    assert.equal(await calls.ack(agent, [first.id]), 1)
    await closed(reader)
  })

  test('[SSE-1] an envelope with line breaks in its white space stays one event', async () => {
    const reader = await open()
    const raw =
      '{\n"specversion": "1.0",\r\n\r\n"type": "t.x", "source": "/s",\n\n"id": "pretty", "data": {\n"a": [1,\n2]}\n}'
    assert.equal(
      (
        await service.call('POST /v1/events', {
          token: agent.token,
          raw,
          headers: { 'content-type': 'application/json' },
        })
      ).status,
      202,
    )
    assert.deepEqual((await reader.next()).payload['data'], { a: [1, 2] })
    await closed(reader)
  })

  test('[SSE-2] a comment is sent every 15 seconds', async () => {
    const reader = await open()
    assert.equal(await reader.comment(), 'open')
    for (let i = 0; i < 3; i++) {
      await service.clock.advance(15_000)
      assert.equal(await reader.comment(), 'still here')
    }
    await closed(reader)
  })

  test('[SSE-3] at most max_in_flight are outstanding; an acknowledgement makes room', async () => {
    for (let i = 0; i < 5; i++) await calls.publish(agent)
    const reader = await open('?max_in_flight=2')
    const [one, two] = [await reader.next(), await reader.next()]
    const leased = async (): Promise<number> => (await calls.rows(agent)).filter((row) => row.state === 'leased').length
    assert.equal(await leased(), 2)
    await service.clock.advance(5_000)
    assert.equal(reader.waiting(), 0)
    await calls.ack(agent, [one.id])
    const three = await reader.next()
    await service.call('POST /v1/delivery/nack', {
      token: agent.token,
      body: { delivery_ids: [two.id], retry_after_seconds: 600 },
    })
    const four = await reader.next()
    assert.equal(new Set([one, two, three, four].map((delivery) => delivery.id)).size, 4)
    assert.equal(await leased(), 2)
    // A lease that lapses frees its place as well; the delivery comes again as the next attempt.
    await service.clock.advance(31_000)
    const again = [await reader.next(), await reader.next()]
    assert.deepEqual(
      again.map((delivery) => [delivery.id, delivery.attempt_count]),
      [
        [three.id, 2],
        [four.id, 2],
      ],
    )
    await closed(reader)
  })

  test('[SSE-3] max_in_flight is 50 by default, and refused when out of range', async () => {
    const batch = Array.from({ length: 60 }, (_, i) => ({ specversion: '1.0', type: 't', source: '/s', id: `b${i}` }))
    await service.call('POST /v1/events', {
      token: agent.token,
      raw: JSON.stringify(batch),
      headers: { 'content-type': 'application/cloudevents-batch+json' },
    })
    const reader = await open()
    for (let i = 0; i < 50; i++) await reader.next()
    assert.equal((await calls.rows(agent)).filter((row) => row.state === 'leased').length, 50)
    await closed(reader)
    for (const value of ['0', '101', '-1', 'x', '1.5', '']) {
      assertError(
        await service.call(`GET /v1/delivery/stream?max_in_flight=${value}`, { token: agent.token }),
        'validation_failed',
        { field: 'max_in_flight' },
      )
    }
  })

  test('[SSE-3] a lengthened lease keeps its place', async () => {
    for (let i = 0; i < 2; i++) await calls.publish(agent)
    const reader = await open('?max_in_flight=1')
    const first = await reader.next()
    const longer = { token: agent.token, body: { delivery_ids: [first.id], seconds: 300 } }
    assert.deepEqual((await service.call('POST /v1/delivery/extend', longer)).body, { extended: 1 })
    await service.clock.advance(60_000)
    assert.equal(reader.waiting(), 0)
    await calls.ack(agent, [first.id])
    assert.notEqual((await reader.next()).id, first.id)
    await closed(reader)
  })

  test('[SSE-3] a shortened lease gives its place back when it ends', async () => {
    await calls.publish(agent)
    const reader = await open('?max_in_flight=1')
    const first = await reader.next()
    const extend = (seconds: number) =>
      service.call('POST /v1/delivery/extend', { token: agent.token, body: { delivery_ids: [first.id], seconds } })
    assert.deepEqual((await extend(3_600)).body, { extended: 1 })
    assert.deepEqual((await extend(2)).body, { extended: 1 })
    await service.clock.advance(5_000)
    assert.deepEqual([first.id, 2], await reader.next().then(({ id, attempt_count }) => [id, attempt_count]))
    await closed(reader)
  })

  test('[SSE-4] closing a stream frees its leases at once: the next attempt follows, or a dead letter', async () => {
    await calls.publish(agent)
    for (let attempt = 1; attempt <= 5; attempt++) {
      const reader = await open()
      assert.equal((await reader.next()).attempt_count, attempt)
      await closed(reader)
      await until(async () => (await calls.rows(agent))[0]!.state !== 'leased')
    }
    const [row] = await calls.rows(agent)
    assert.equal(row!.state, 'dead_lettered')
    assert.match(row!.dlq_reason!, /^Not acknowledged after 5 attempts/)
  })

  test('[SSE-4] a delivery that one stream gives back goes to another', async () => {
    await calls.publish(agent)
    const readers = [await open(), await open()]
    const firsts = readers.map((reader) => reader.next())
    const holder = await Promise.race(firsts.map((first, i) => first.then(() => i)))
    await closed(readers[holder]!)
    assert.equal((await firsts[1 - holder]!).attempt_count, 2)
    await closed(readers[1 - holder]!)
  })

  test('[SSE-4] a lease that was extended outlives its stream: only the others are given back', async () => {
    for (let i = 0; i < 2; i++) await calls.publish(agent)
    const reader = await open()
    const [slow, quick] = [await reader.next(), await reader.next()]
    await service.clock.advance(1_000)
    const longer = { token: agent.token, body: { delivery_ids: [slow.id], seconds: 30 } }
    assert.deepEqual((await service.call('POST /v1/delivery/extend', longer)).body, { extended: 1 })
    await closed(reader)
    const again = await open('?max_in_flight=2')
    assert.deepEqual([quick.id, 2], await again.next().then(({ id, attempt_count }) => [id, attempt_count]))
    assert.equal((await service.call(`GET /v1/agents/${agent.id}/queue`, { token: agent.token })).body['leased'], 2)
    // The new stream does not hold it, so its end does not give it back either.
    await calls.ack(agent, [quick.id])
    await closed(again)
    const third = await open()
    await service.clock.advance(15_000)
    assert.equal(third.waiting(), 0)
    await service.clock.advance(16_000)
    assert.deepEqual([slow.id, 2], await third.next().then(({ id, attempt_count }) => [id, attempt_count]))
    await closed(third)
  })

  test('[SSE-5] any agent and the org-admin may open a stream; it needs the scope and a token', async () => {
    for (const mode of ['poll', 'push', 'sse']) {
      const any = await tenant.agent({ mode, scopes: ['send', 'receive', 'interests:write'] })
      await calls.interest(any)
      const reader = await open('', any)
      const id = await calls.publish(any)
      assert.equal((await reader.next()).event_id, id)
      await closed(reader)
    }
    const admin = await openReader(service.url, tenant.admin)
    assert.equal(admin.status, 200)
    await closed(admin)
    const sender = await tenant.agent({ scopes: ['send'] })
    assertError(await service.call('GET /v1/delivery/stream', { token: sender.token }), 'insufficient_scope', {
      required_scope: 'receive',
    })
    assertError(await service.call('GET /v1/delivery/stream'), 'authentication_failed')
  })

  const endings: [string, () => Promise<unknown>][] = [
    [
      'its key is revoked',
      () => service.call(`DELETE /v1/agents/${agent.id}/keys/${agent.keyId}`, { token: tenant.admin }),
    ],
    ['its agent is deactivated', () => service.call(`POST /v1/agents/${agent.id}/deactivate`, { token: tenant.admin })],
  ]
  for (const [why, act] of endings) {
    test(`[SSE-6] a stream ends within a second when ${why}, and gives its leases back`, async () => {
      await calls.publish(agent)
      const reader = await open()
      await reader.next()
      await service.clock.advance(1_000)
      await act()
      await service.clock.advance(1_000)
      await reader.ended
      await calls.state(agent, 'ready')
    })
  }

  test('[SSE-6] a stream ends with its token', async () => {
    const key = await service.call<{ key: string }>(`POST /v1/agents/${agent.id}/keys`, {
      token: tenant.admin,
      body: { scopes: ['receive'], expires_at: new Date(service.clock.now() + 20_000).toISOString() },
    })
    const reader = await openReader(service.url, await tenant.token(key.body.key))
    await service.clock.advance(15_000)
    await reader.comment()
    await service.clock.advance(6_000)
    await reader.ended
  })

  test('streams do not count as requests in hand', async () => {
    const reader = await open()
    const metrics = (await service.call('GET /metrics')).text
    assert.match(metrics, /^sensorium_http_in_flight 1$/m) // this request itself
    assert.match(metrics, /^sensorium_streams [1-9]/m)
    await closed(reader)
  })

  test('a shutdown ends streams with a hint when to reconnect, and gives their leases back', async () => {
    const own = await startService(engine)
    const there = outboundCalls(own)
    const home = await own.tenant()
    const somebody = await home.agent()
    await there.interest(somebody)
    await there.publish(somebody)
    const reader = await openReader(own.url, somebody.token)
    await reader.next()
    const again = await own.restart()
    assert.match((await reader.event()).retry!, /^[1-5]\d{3}$/)
    await reader.ended
    const resumed = await openReader(again.url, somebody.token)
    assert.equal((await resumed.next()).attempt_count, 2)
    resumed.close()
    await again.stop()
  })

  if (engine.name === 'postgres') {
    test('[SSE-4] another node: a lease that was extended there outlives its stream', async (t) => {
      const other = await service.another()
      t.after(() => other.stop())
      await calls.publish(agent)
      const reader = await openReader(other.url, agent.token)
      const { id } = await reader.next()
      await service.clock.advance(1_000)
      const longer = { token: agent.token, body: { delivery_ids: [id], seconds: 30 } }
      assert.deepEqual((await service.call('POST /v1/delivery/extend', longer)).body, { extended: 1 })
      await other.stop()
      await reader.ended
      const [row] = await calls.rows(agent)
      assert.deepEqual([row!.state, row!.attempts], ['leased', 1])
    })

    test('[SSE-3] [SSE-6] another node: acknowledgements make room, wake-ups arrive, a revoked key ends the stream', async (t) => {
      const other = await service.another()
      t.after(() => other.stop())
      const reader = await openReader(other.url, agent.token, '?max_in_flight=1')
      await calls.publish(agent)
      // The other node may not be listening for wake-ups yet: it looks by itself every two seconds.
      await service.clock.advance(2_500)
      const first = await reader.next()
      await calls.publish(agent)
      await calls.ack(agent, [first.id])
      const nextWithin = async (ms: number) => {
        for (let passed = 0; reader.waiting() === 0; passed += 20) {
          assert.ok(passed < ms, `nothing arrived within ${ms} ms`)
          await service.clock.advance(20)
        }
        return reader.next()
      }
      const second = await nextWithin(1_500)
      assert.notEqual(second.id, first.id)
      // An acknowledgement that comes soon is found soon.
      await calls.publish(agent)
      await calls.ack(agent, [second.id])
      const third = await nextWithin(100)
      assert.notEqual(third.id, second.id)
      await service.call(`DELETE /v1/agents/${agent.id}/keys/${agent.keyId}`, { token: tenant.admin })
      await service.clock.advance(1_000)
      await reader.ended
    })
  }
})
