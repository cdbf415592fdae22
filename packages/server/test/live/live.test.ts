// Watching a tenant live: what a stream carries, how much, and how it ends.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { beforeEach, test } from 'node:test'
import type { EventSummary, LiveStats } from '@sensorium/contract'
import { makeActivity } from '../../src/activity/activity.ts'
import { MAX_LIVE_OF_ONE } from '../../src/live/live-streams.ts'
import { newestSince } from '../../src/live/sql.ts'
import { watchTenant } from '../../src/live/watch-tenant.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, startService, type TestAgent, type TestTenant } from '../support/service.ts'
import { openReader, outboundCalls, startReceiver, until, type Reader } from '../outbound/tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let tenant: TestTenant
  let agent: TestAgent
  const calls = outboundCalls(service)
  beforeEach(async () => {
    tenant = await service.tenant()
    agent = await tenant.agent()
    await calls.interest(agent)
  })

  const open = (query = '', url = service.url): Promise<Reader> => openReader(url, tenant.admin, query, '/v1/live')
  const closed = async (reader: Reader): Promise<void> => {
    reader.close()
    await reader.ended
  }

  /** Reads the next second of a stream: its events, and the counts that follow them. */
  async function second(reader: Reader, on = service): Promise<{ events: EventSummary[]; stats: LiveStats }> {
    const events: EventSummary[] = []
    await on.clock.advance(1_000)
    for (;;) {
      const { event, data } = await reader.event()
      if (event === 'stats') return { events, stats: JSON.parse(data!) as LiveStats }
      assert.equal(event, 'event')
      events.push(JSON.parse(data!) as EventSummary)
    }
  }

  const batch = (count: number, fields: (n: number) => object): Promise<unknown> =>
    service.call('POST /v1/events', {
      token: agent.token,
      raw: JSON.stringify(
        Array.from({ length: count }, (_, n) => ({ specversion: '1.0', source: '/s', ...fields(n) })),
      ),
      headers: { 'content-type': 'application/cloudevents-batch+json' },
    })

  test('[CON-2] events and counts come once a second, and only for what happened since the last', async () => {
    await calls.publish(agent)
    const reader = await open()
    assert.match(reader.headers['content-type']!, /^text\/event-stream/)
    assert.equal(await reader.comment(), 'open')
    const id = await calls.publish(agent, 'com.example.seen', { text: 'x'.repeat(300) })
    const { events, stats } = await second(reader)
    assert.equal(events.length, 1)
    const { snippet, received_at, ...rest } = events[0]!
    assert.deepEqual(rest, {
      id,
      type: 'com.example.seen',
      source: '/tests',
      subject: null,
      time: null,
      sender: agent.id,
      recipients: 1,
    })
    assert.equal(snippet!.length, 201)
    assert.ok(Date.parse(received_at) <= service.clock.now())
    assert.deepEqual(
      { ...stats, at: undefined },
      {
        at: undefined,
        seconds: 1,
        events: 1,
        deliveries: 1,
        acknowledgements: 0,
        failures: 0,
        dead_letters: 0,
        backlog: 2,
        oldest_waiting_seconds: 1,
        org_admin_backlog: 0,
        org_admin_oldest_waiting_seconds: null,
        left_out: 0,
      },
    )
    const quiet = await second(reader)
    assert.deepEqual([quiet.events, quiet.stats.events, quiet.stats.oldest_waiting_seconds], [[], 0, 2])
    await closed(reader)
  })

  test('[CON-2] what of the backlog waits for the org-admin is told apart', async () => {
    const { body: channel } = await service.call('POST /v1/channels', {
      token: tenant.admin,
      body: { name: 'Incidents', type: 'open' },
    })
    await service.call(`POST /v1/channels/${channel.id}/feeds`, {
      token: tenant.admin,
      body: { event_type_glob: 'for.the.admin' },
    })
    const reader = await open()
    await calls.publish(agent)
    await calls.publish(agent, 'for.the.admin')
    await calls.publish(agent)
    const { stats } = await second(reader)
    assert.deepEqual([stats.backlog, stats.org_admin_backlog], [4, 1])
    assert.equal(stats.org_admin_oldest_waiting_seconds, stats.oldest_waiting_seconds)
    const { body } = await service.call('GET /v1/delivery/poll', { token: tenant.admin })
    assert.equal(body.deliveries.length, 1)
    const after = (await second(reader)).stats
    assert.deepEqual([after.backlog, after.org_admin_backlog, after.org_admin_oldest_waiting_seconds], [3, 0, null])
    await closed(reader)
  })

  test('[CON-2] acknowledgements, dead letters and the backlog are counted', async () => {
    const reader = await open()
    for (let i = 0; i < 3; i++) await calls.publish(agent)
    const [one, two] = await calls.poll(agent, 2)
    const leased = await second(reader)
    assert.deepEqual([leased.stats.deliveries, leased.stats.backlog], [3, 1])
    await calls.ack(agent, [one!.id])
    await service.call('POST /v1/delivery/nack', {
      token: agent.token,
      body: { delivery_ids: [two!.id], dead_letter: true },
    })
    const { stats } = await second(reader)
    assert.deepEqual([stats.acknowledgements, stats.failures, stats.dead_letters, stats.backlog], [1, 1, 1, 1])
    await closed(reader)
  })

  test('[CON-6] a lapsed lease counts when it is delivered again, the last one when it is buried', async (t) => {
    const own = await startService(engine, { VISIBILITY_TIMEOUT_S: '2', MAX_ATTEMPTS: '2' })
    t.after(() => own.stop())
    const there = outboundCalls(own)
    const home = await own.tenant()
    const receiver = await home.agent()
    await there.interest(receiver)
    const reader = await openReader(own.url, home.admin, '', '/v1/live')
    await there.publish(receiver)
    const counts: number[][] = []
    for (let attempt = 1; attempt <= 2; attempt++) {
      assert.equal((await there.poll(receiver))[0]?.attempt_count, attempt)
      for (let i = 0; i < 4; i++) {
        const { stats } = await second(reader, own)
        counts.push([stats.failures, stats.dead_letters])
      }
    }
    // Delivered, lapsed, delivered again, lapsed for the last time; the sweep runs every second.
    assert.deepEqual(counts.slice(0, 5), [
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [1, 0],
    ])
    assert.deepEqual(
      counts.slice(5).reduce(([a, b], [c, d]) => [a! + c!, b! + d!]),
      [1, 1],
    )
    reader.close()
  })

  test('[CON-6] a failed push is a failure', async (t) => {
    const own = await startService(engine, { PUSH_ALLOW_PRIVATE: 'on' })
    t.after(() => own.stop())
    const there = outboundCalls(own)
    const home = await own.tenant()
    const receiver = await startReceiver()
    t.after(() => receiver.stop())
    receiver.answer = () => 500
    const pushed = await there.pushed(home, receiver.url)
    const reader = await openReader(own.url, home.admin, '', '/v1/live')
    await there.publish(pushed)
    await receiver.next()
    await there.state(pushed, 'waiting')
    assert.equal((await second(reader, own)).stats.failures, 1)
    reader.close()
  })

  test('[CON-3] a pattern and a filter choose what is shown', async () => {
    const typed = await open('?type=com.a.*')
    const filtered = await open(`?type=com.*&filter=${encodeURIComponent('data.n > 1 && event.source == "/tests"')}`)
    for (const [type, n] of [
      ['com.a.x', 1],
      ['com.b.x', 2],
      ['org.a.x', 3],
    ] as const)
      await calls.publish(agent, type, { n })
    await service.clock.advance(1_000)
    const types = async (reader: Reader): Promise<string[]> => {
      const shown: string[] = []
      for (;;) {
        const { event, data } = await reader.event()
        if (event === 'stats') return shown
        shown.push((JSON.parse(data!) as EventSummary).type)
      }
    }
    assert.deepEqual(await types(typed), ['com.a.x'])
    assert.deepEqual(await types(filtered), ['com.b.x'])
    await closed(typed)
    await closed(filtered)
    const broken = await service.call(`GET /v1/live?filter=${encodeURIComponent('data.n >')}`, { token: tenant.admin })
    assertError(broken, 'validation_failed', { field: 'filter' })
    assert.match(broken.body.error.details.expected, /line 1|column|position|character/)
  })

  test('[CON-3] [SAFE-22] a filter sees numbers as exactly as a publish did', async () => {
    const reader = await open(`?filter=${encodeURIComponent('data.n == 9007199254740993')}`)
    for (const n of ['9007199254740993', '9007199254740992'])
      await service.call('POST /v1/events', {
        token: agent.token,
        raw: `{"specversion":"1.0","source":"/s","type":"exact","id":"${n}","data":{"n":${n}}}`,
        headers: { 'content-type': 'application/cloudevents+json' },
      })
    const { events } = await second(reader)
    assert.deepEqual(
      events.map(({ id }) => id),
      ['9007199254740993'],
    )
    await closed(reader)
  })

  test('[CON-3] a long event is parsed for filters over many turns, and once for all streams', async () => {
    const data = `[${'{},'.repeat(300_000)}{}]`
    const sent = await service.call('POST /v1/events', {
      token: agent.token,
      raw: `{"specversion":"1.0","source":"/s","type":"long","id":"long","data":${data}}`,
      headers: { 'content-type': 'application/cloudevents+json' },
    })
    assert.equal(sent.status, 202, sent.text)
    const watch = await watchTenant(
      { store: service.store, clock: service.clock, activity: makeActivity(service.store, service.clock) },
      tenant.id,
    )
    const events = await newestSince(service.store, tenant.id, 0, 10)
    let turns = 0
    let ticking = setImmediate(function next() {
      turns++
      ticking = setImmediate(next)
    })
    const envelopeOf = await watch.envelopes(events)
    clearImmediate(ticking)
    assert.ok(turns >= 20, `${turns} turns`)
    assert.equal((envelopeOf(events[0]!)!['data'] as unknown[]).length, 300_001)
    assert.equal(envelopeOf(events[0]!), envelopeOf(events[0]!))
  })

  test('[CON-4] over 200 a second the stream shows the newest and says how many it left out', async () => {
    const reader = await open()
    const filtered = await open(`?filter=${encodeURIComponent('data.n % 2 == 0')}`)
    for (let part = 0; part < 5; part++)
      await batch(100, (n) => ({ id: `many-${part * 100 + n}`, type: 't.many', data: { n: part * 100 + n } }))
    const all = await second(reader)
    assert.deepEqual([all.events.length, all.stats.left_out, all.stats.events], [200, 300, 500])
    assert.equal(all.events.at(-1)!.id, 'many-499')
    const even: EventSummary[] = []
    for (let event = await filtered.event(); ; event = await filtered.event()) {
      if (event.event === 'stats') {
        assert.equal((JSON.parse(event.data!) as LiveStats).left_out, 50)
        break
      }
      even.push(JSON.parse(event.data!) as EventSummary)
    }
    assert.equal(even.length, 200)
    assert.ok(even.every(({ id }) => Number(id.slice(5)) % 2 === 0))
    await closed(reader)
    await closed(filtered)
  })

  test('[CON-4] nothing of another tenant is shown or counted', async () => {
    const other = await service.tenant()
    const stranger = await other.agent()
    const reader = await open()
    await calls.interest(stranger)
    await calls.publish(stranger)
    const { events, stats } = await second(reader)
    assert.deepEqual([events, stats.events, stats.deliveries, stats.backlog], [[], 0, 0, 0])
    await closed(reader)
  })

  test('[CON-5] a principal has at most 16 streams, and a closed one makes room', async () => {
    const readers = await Promise.all(Array.from({ length: MAX_LIVE_OF_ONE }, () => open()))
    assertError(await service.call('GET /v1/live', { token: tenant.admin }), 'rate_limited', {
      limit: MAX_LIVE_OF_ONE,
    })
    await closed(readers.pop()!)
    await until(async () => {
      const reader = await open()
      if (reader.status !== 200) return false
      readers.push(reader)
      return true
    })
    for (const reader of readers) await closed(reader)
  })

  test('[CON-5] a comment is sent every 15 seconds, and the stream ends with its key', async () => {
    const made = await service.call(`POST /operator/tenants/${tenant.slug}/admin-keys`, {
      token: service.config.operatorToken,
    })
    const reader = await openReader(service.url, await tenant.token(made.body.admin_key), '', '/v1/live')
    assert.equal(await reader.comment(), 'open')
    await service.clock.advance(15_500)
    assert.equal(await reader.comment(), 'still here')
    const { body } = await service.call<{ keys: { id: string; prefix: string }[] }>(
      `GET /operator/tenants/${tenant.slug}/admin-keys`,
      { token: service.config.operatorToken },
    )
    const { id } = body.keys.find(({ prefix }) => made.body.admin_key.startsWith(prefix))!
    await service.call(`DELETE /operator/tenants/${tenant.slug}/admin-keys/${id}`, {
      token: service.config.operatorToken,
    })
    await service.clock.advance(1_000)
    await reader.ended
  })

  test('[CON-5] a reader that reads nothing loses its stream', async () => {
    const { hostname, port } = new URL(service.url)
    const socket = net.connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.pause()
    socket.on('error', () => {})
    socket.write(`GET /v1/live HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tenant.admin}\r\n\r\n`)
    const count = async (): Promise<string> =>
      /^sensorium_live_streams (\d+)$/m.exec((await service.call('GET /metrics')).text)![1]!
    await until(async () => (await count()) === '1')
    let rounds = 0
    for (let round = 0; (await count()) === '1'; round++) {
      assert.ok(round < 500, 'the stream of a reader that takes nothing goes on')
      rounds = round
      await batch(100, (n) => ({ id: `r${round}-${n}`, type: 't', subject: 's'.repeat(4_000), data: 'd'.repeat(300) }))
      await service.clock.advance(1_000)
    }
    assert.ok(rounds >= 10, 'it is not dropped before ten seconds')
    socket.destroy()
  })

  test('[CON-5] a shutdown ends live streams with a hint when to reconnect', async () => {
    const own = await startService(engine)
    const home = await own.tenant()
    const reader = await openReader(own.url, home.admin, '', '/v1/live')
    const again = await own.restart()
    assert.match((await reader.event()).retry!, /^[1-5]\d{3}$/)
    await reader.ended
    await again.stop()
  })

  if (engine.name === 'postgres') {
    test('[CON-2] events and counts of other nodes are included', async (t) => {
      const other = await service.another()
      t.after(() => other.stop())
      const reader = await open('', other.url)
      const id = await calls.publish(agent)
      let counted = 0
      const seen: string[] = []
      await until(async () => {
        const { events, stats } = await second(reader)
        counted += stats.deliveries
        seen.push(...events.map((event) => event.id))
        return seen.length > 0 && counted > 0
      })
      assert.deepEqual([seen, counted], [[id], 1])
      reader.close()
    })
  }
})
