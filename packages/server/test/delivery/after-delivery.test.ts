// A mailbox after delivery: dead letters and their replay, acknowledged events, and the state of the queue.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { ack, ids, interest, mailboxCalls, poll } from '../events/tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine, { VISIBILITY_TIMEOUT_S: '30', MAX_ATTEMPTS: '3' })
  const tenant = tenantForSuite(service)
  let agent: TestAgent
  beforeEach(async () => {
    agent = await tenant.agent()
    await interest(service, agent, { event_type: `*.${agent.id}` })
  })

  const { send, post, dead, first } = mailboxCalls(() => ({ service, agent }))

  test('[DLQ-1] [DLQ-2] dead letters: the agent’s own, the whole tenant for the org-admin, paged with a true total', async () => {
    const other = await tenant.agent()
    const before = (await dead(tenant.admin)).total
    for (let i = 0; i < 5; i++) {
      await send()
      await post('nack', { delivery_ids: [(await first()).id], dead_letter: true })
      await service.clock.advance(1)
    }
    const list = await dead()
    assert.equal(list.total, 5)
    assert.deepEqual(Object.keys(list.dlq_items[0]).sort(), [
      'agent_id',
      'attempt_count',
      'created_at',
      'dead_lettered_at',
      'dlq_reason',
      'event_id',
      'id',
      'payload',
    ])
    assert.equal(list.dlq_items[0].agent_id, agent.id)
    assert.equal(list.dlq_items[0].payload.type, `com.test.${agent.id}`)
    const page = (await service.call('GET /v1/delivery/dlq?offset=1&limit=2', { token: agent.token })).body
    assert.deepEqual(page.dlq_items, list.dlq_items.slice(1, 3))
    assert.equal(page.total, 5)
    assert.equal((await dead(other.token)).total, 0)
    assert.equal((await dead(tenant.admin)).total, before + 5)
  })

  test('[REC-3] the receipt of an open delivery says why its last attempt failed, and when the next is due', async () => {
    const id = await send()
    const told = async () => {
      const { body } = await service.call(`GET /v1/events/${id}`, { token: tenant.admin })
      const { state, last_error, next_attempt_at } = body.deliveries[0]
      return [state, last_error, next_attempt_at]
    }
    assert.deepEqual(await told(), ['pending', null, null])
    const delivery = await first()
    const reason = 'the valve is stuck'
    await post('nack', { delivery_ids: [delivery.id], reason, retry_after_seconds: 5 })
    assert.deepEqual(await told(), ['pending', reason, new Date(service.clock.now() + 5_000).toISOString()])
    await service.clock.advance(5_000)
    assert.deepEqual(await told(), ['pending', reason, null])
    await first()
    assert.deepEqual(await told(), ['leased', reason, null])
    await ack(service, agent.token, [delivery.id])
    assert.deepEqual(await told(), ['acknowledged', null, null])
  })

  test('[DLQ-3] [DLQ-4] [DLQ-5] [DLQ-6] a replay starts over for the same recipient, with today’s priority', async () => {
    const id = await send()
    const delivery = await first()
    await post('nack', { delivery_ids: [delivery.id], dead_letter: true })
    const other = await tenant.agent()
    const replay = (token: string, headers = {}) =>
      service.call(`POST /v1/delivery/dlq/${delivery.id}/replay`, { token, headers })
    assertError(await replay(other.token), 'not_found', { resource_type: 'delivery', resource_id: delivery.id })
    await interest(service, agent, { event_type: `com.test.${agent.id}`, priority: 7 })
    const answered = await replay(agent.token, { 'idempotency-key': 'r1' })
    assert.deepEqual([answered.status, answered.body], [200, { status: 'replayed', delivery_id: delivery.id }])
    const again = await replay(agent.token, { 'idempotency-key': 'r1' })
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assertError(await replay(agent.token), 'not_found')
    await interest(service, agent, { event_type: `mid.${agent.id}`, priority: 3 })
    await send({ type: `mid.${agent.id}` })
    const [replayed, mid] = await poll(service, agent.token)
    assert.deepEqual([replayed!.event_id, replayed!.attempt_count, replayed!.id], [id, 1, delivery.id])
    assert.equal(mid!.attempt_count, 1)
    await post('nack', { delivery_ids: [delivery.id], dead_letter: true })
    assert.equal((await replay(tenant.admin)).status, 200)
  })

  test('[DLQ-1] [DLQ-3] a last lease that has just run out is a dead letter to everybody, before any sweep', async () => {
    for (let i = 0; i < 30; i++) await send()
    for (let attempt = 1; attempt <= 3; attempt++) {
      assert.equal((await poll(service, agent.token)).length, 30)
      service.clock.set(30_000) // no time passes, so no sweep runs
    }
    // In parallel: the second reader waits until the first has buried them.
    const totals = await Promise.all(
      [dead(tenant.admin), dead(), dead(tenant.admin), dead()].map(async (list) => (await list).total as number),
    )
    assert.ok(totals[0] === totals[2] && totals[0]! >= 30, String(totals))
    assert.deepEqual([totals[1], totals[3]], [30, 30])
  })

  test('[DLQ-3] an admin replays a delivery whose last lease has just run out', async () => {
    await send()
    let delivery = await first()
    for (let attempt = 2; attempt <= 3; attempt++) {
      await post('nack', { delivery_ids: [delivery.id] })
      delivery = await first()
    }
    service.clock.set(30_000) // no time passes, so no sweep runs
    assert.equal(
      (await service.call(`POST /v1/delivery/dlq/${delivery.id}/replay`, { token: tenant.admin })).status,
      200,
    )
    assert.equal((await first()).attempt_count, 1)
  })

  test('[REC-1] [REC-2] recent events are the acknowledged ones, the latest first', async () => {
    for (let i = 0; i < 7; i++) await send({ data: { i }, subject: `thing/${i}` })
    const handed = await poll(service, agent.token)
    const recent = async (query = '', token = agent.token) =>
      (await service.call(`GET /v1/agents/${agent.id}/events${query}`, { token })).body.events
    assert.deepEqual(await recent(), [])
    for (const delivery of handed.slice(0, 6)) {
      await service.clock.advance(1)
      await ack(service, agent.token, [delivery.id])
    }
    assert.deepEqual(
      (await recent()).map((e: { data: { i: number } }) => e.data.i),
      [5, 4, 3, 2, 1],
    )
    assert.equal((await recent('?limit=900', tenant.admin)).length, 6)
    assert.deepEqual(Object.keys((await recent())[0]).sort(), [
      'acknowledged_at',
      'data',
      'delivery_id',
      'event_id',
      'source',
      'subject',
      'time',
      'type',
    ])
    const stranger = await tenant.agent({ scopes: ['receive'] })
    assertError(
      await service.call(`GET /v1/agents/${agent.id}/events`, { token: stranger.token }),
      'insufficient_scope',
      { required_scope: 'admin' },
    )
    assertError(
      await service.call(`GET /v1/agents/${agent.id}/events?limit=0`, { token: agent.token }),
      'validation_failed',
    )
  })

  test('[REC-1] recent events show data as it was sent, short or long, with numbers of any length', async () => {
    const pad = 'x'.repeat(100_000)
    const data = [' { "n":9007199254740993, "m": [1e400, -0, 1.0] } ', '"ü"', `{"n":9007199254740993,"pad":"${pad}"}`]
    for (const [i, text] of data.entries()) {
      await service.clock.advance(1)
      const raw = `{"specversion":"1.0","type":"com.test.${agent.id}","source":"/s","id":"exact-${agent.id}-${i}","data":${text}}`
      const headers = { 'content-type': 'application/json' }
      assert.equal((await service.call('POST /v1/events', { token: agent.token, raw, headers })).status, 202)
      await ack(service, agent.token, ids(await poll(service, agent.token)))
    }
    const { text } = await service.call(`GET /v1/agents/${agent.id}/events`, { token: agent.token })
    for (const [i, shown] of data.entries())
      assert.ok(text.includes(`"source":"/s","subject":null,"time":null,"data":${shown.trim()},`), `event ${i}`)
    assert.equal(JSON.parse(text).events.length, 3)
  })

  test('[REC-8] the queue reports what it holds at that moment', async () => {
    const queue = async () => (await service.call(`GET /v1/agents/${agent.id}/queue`, { token: agent.token })).body
    assert.deepEqual(await queue(), {
      pending: 0,
      leased: 0,
      dead_lettered: 0,
      oldest_pending_at: null,
      last_poll_at: null,
    })
    const at = new Date(service.clock.now()).toISOString()
    for (let i = 0; i < 4; i++) await send()
    const [one, two] = ids(await poll(service, agent.token, 'limit=3'))
    assert.deepEqual(await queue(), {
      pending: 1,
      leased: 3,
      dead_lettered: 0,
      oldest_pending_at: at,
      last_poll_at: at,
    })
    await post('nack', { delivery_ids: [one], dead_letter: true })
    await post('nack', { delivery_ids: [two], retry_after_seconds: 50 })
    assert.deepEqual(await queue(), {
      pending: 2,
      leased: 1,
      dead_lettered: 1,
      oldest_pending_at: at,
      last_poll_at: at,
    })
    await service.clock.advance(30_000)
    const lapsed = await queue()
    assert.deepEqual([lapsed.pending, lapsed.leased, lapsed.dead_lettered], [3, 0, 1])
  })
})
