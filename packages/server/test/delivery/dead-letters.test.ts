// Dead letters in bulk: searched, replayed, discarded, counted.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { causeOf } from '../../src/delivery/summarize-dead-letters.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { serviceForSuite, type TestAgent, type TestTenant } from '../support/service.ts'
import { ids, interest, poll, publish } from '../events/tools.ts'

interface Listed {
  dlq_items: { id: string; event_id: string }[]
  total: number
}

test('[CON-13] the cause of a dead letter is a part of its reason', () => {
  for (const [reason, cause] of [
    ['Not acknowledged after 5 attempts over 150 s', 'Not acknowledged'],
    ['Not acknowledged after 1 attempt over 0 s', 'Not acknowledged'],
    ['Push failed after 5 attempts over 2 h; last error: answered 503', 'answered 503'],
    ['Given back after 5 attempts over 3 min; last error: a; last error: b', 'a; last error: b'],
    ['the ledger is closed', 'the ledger is closed'],
    ['Cooked after 2 attempts over an hour', 'Cooked after 2 attempts over an hour'],
  ] as const) {
    assert.equal(causeOf(reason), cause)
    assert.ok(reason.includes(cause))
  }
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  let tenant: TestTenant
  let agent: TestAgent
  let other: TestAgent
  beforeEach(async () => {
    tenant = await service.tenant()
    agent = await tenant.agent()
    other = await tenant.agent()
    for (const one of [agent, other]) await interest(service, one, { event_type: '*' })
  })

  /** An event whose delivery to each of these agents is a dead letter. */
  async function bury(type: string, reason: string, of: TestAgent[] = [agent], fields = {}): Promise<string> {
    const { body } = await publish(service, agent.token, { type, ...fields })
    for (const one of [agent, other]) {
      const deliveries = (await poll(service, one.token)).filter(({ event_id }) => event_id === body.event_id)
      const isOf = of.includes(one)
      await service.call(`POST /v1/delivery/${isOf ? 'nack' : 'ack'}`, {
        token: one.token,
        body: { delivery_ids: ids(deliveries), ...(isOf ? { reason, dead_letter: true } : {}) },
      })
    }
    return body.event_id
  }

  const list = (query = '', token = tenant.admin) => service.call<Listed>(`GET /v1/delivery/dlq${query}`, { token })
  const found = async (query: string, token = tenant.admin): Promise<string[]> =>
    (await list(query, token)).body.dlq_items.map(({ event_id }) => event_id)
  const bulk = (what: 'replay' | 'discard', body: object, token = tenant.admin, headers = {}) =>
    service.call<Record<string, number>>(`POST /v1/delivery/dlq/${what}`, { token, body, headers })

  test('[CON-10] they are found by type, agent, reason and time, with a total', async () => {
    const one = await bury('shop.order', 'Timed out')
    await service.clock.advance(1_000)
    const noon = new Date(service.clock.now()).toISOString()
    const two = await bury('shop.mail', 'refused', [other])
    await service.clock.advance(1_000)
    const three = await bury('plant.pump', 'timed OUT after all', [agent, other])
    assert.deepEqual(await found('?event_type=shop.*'), [two, one])
    assert.deepEqual(await found('?reason=timed%20out&event_type=*.order'), [one])
    assert.deepEqual((await list('?reason=timed%20out')).body.total, 3)
    assert.deepEqual(await found(`?agent_id=${other.id}`), [three, two])
    assert.deepEqual(await found(`?since=${noon}&until=${noon}`), [two])
    assert.deepEqual(await found('?event_type=shop.*&offset=1&limit=1'), [one])
    assert.deepEqual(await found('?reason=nothing'), [])
    // An agent finds only its own, whichever agent it asks for.
    assert.deepEqual(await found('?event_type=shop.*', agent.token), [one])
    assert.deepEqual(await found(`?agent_id=${other.id}`, agent.token), [])
    assert.deepEqual(await found(`?agent_id=${agent.id}`, agent.token), [three, one])
    assertError(await list('?since=then'), 'validation_failed', { field: 'since' })
  })

  test('[CON-11] a replay by filter puts them back into their mailboxes', async () => {
    const one = await bury('shop.order', 'timed out')
    const two = await bury('shop.mail', 'timed out', [agent, other])
    await bury('plant.pump', 'refused')
    const filter = { reason: 'timed out' }
    assert.deepEqual((await bulk('replay', { filter, dry_run: true })).body, { matched: 3, replayed: 0 })
    assert.equal((await list()).body.total, 4)
    assert.deepEqual((await bulk('replay', { filter })).body, { matched: 3, replayed: 3 })
    const again = await poll(service, agent.token)
    assert.deepEqual(
      again.map(({ event_id, attempt_count }) => [event_id, attempt_count]).sort(),
      [
        [one, 1],
        [two, 1],
      ].sort(),
    )
    assert.deepEqual(
      (await poll(service, other.token)).map(({ event_id }) => event_id),
      [two],
    )
    assert.equal((await list()).body.total, 1)
    assert.deepEqual((await bulk('replay', { filter })).body, { matched: 0, replayed: 0 })
  })

  test('[CON-11] a call by ids or with a limit leaves the dead letters of other agents alone', async () => {
    for (let i = 0; i < 3; i++) await bury('a.b', 'x', [agent, other])
    const mine = (await list('', agent.token)).body.dlq_items.map(({ id }) => id)
    const all = (await list()).body.dlq_items.map(({ id }) => id)
    assert.deepEqual([mine.length, all.length], [3, 6])
    assert.deepEqual((await bulk('replay', { delivery_ids: all }, agent.token)).body, { matched: 3, replayed: 3 })
    assert.deepEqual((await bulk('replay', { delivery_ids: [...mine, 'nonsense'] })).body, { matched: 0, replayed: 0 })
    assert.deepEqual((await bulk('discard', { filter: {}, limit: 2 })).body, { matched: 2, discarded: 2 })
    assert.equal((await list()).body.total, 1)
    assert.deepEqual((await bulk('discard', { filter: {} }, agent.token)).body, { matched: 0, discarded: 0 })
    const stranger = await service.tenant()
    assert.deepEqual((await bulk('discard', { delivery_ids: all }, stranger.admin)).body, { matched: 0, discarded: 0 })
  })

  test('[CON-11] a replay uses the interests of today, and works in steps when events are large', async () => {
    const first = await bury('a.b', 'x', [agent], { data: 'd'.repeat(600_000) })
    const second = await bury('a.c', 'x', [agent], { data: 'd'.repeat(600_000) })
    await interest(service, agent, { event_type: 'a.c', priority: 9 })
    assert.deepEqual((await bulk('replay', { filter: { event_type: 'a.*' } })).body, { matched: 2, replayed: 2 })
    assert.deepEqual(
      (await poll(service, agent.token)).map(({ event_id }) => event_id),
      [second, first],
    )
  })

  test('[CON-11] a repeated call with its key gets the first response', async () => {
    await bury('a.b', 'x')
    const headers = { 'idempotency-key': 'bulk' }
    const once = await bulk('discard', { filter: {} }, tenant.admin, headers)
    await bury('a.b', 'x')
    const twice = await bulk('discard', { filter: {} }, tenant.admin, headers)
    assert.deepEqual(
      [once.body, twice.body],
      [
        { matched: 1, discarded: 1 },
        { matched: 1, discarded: 1 },
      ],
    )
    assert.equal(twice.headers.get('idempotent-replayed'), 'true')
    assert.equal((await list()).body.total, 1)
    const counted = await bulk('discard', { filter: {}, dry_run: true }, tenant.admin, { 'idempotency-key': 'dry' })
    assert.deepEqual(counted.body, { matched: 1, discarded: 0 })
  })

  test('[CON-11] a call has either ids or a filter: both or neither is refused', async () => {
    const delivery_ids = ['dlv_01hv3k8z9q4m7t2x5c6w8r0s1d']
    for (const body of [{}, { delivery_ids, filter: {} }, { dry_run: true }])
      assertError(await bulk('replay', body), 'validation_failed')
    for (const [body, field] of [
      [{ delivery_ids: [] }, 'delivery_ids'],
      [{ filter: {}, limit: 10_001 }, 'limit'],
      [{ delivery_ids, limit: 1 }, 'limit'],
      [{ filter: { since: 'x' } }, 'filter.since'],
    ] as const)
      assertError(await bulk('discard', body), 'validation_failed', { field })
  })

  test('[CON-12] a discarded dead letter is gone with its receipt', async () => {
    const id = await bury('a.b', 'x')
    const [letter] = (await list()).body.dlq_items
    assert.deepEqual((await bulk('discard', { delivery_ids: [letter!.id] })).body, { matched: 1, discarded: 1 })
    assert.deepEqual((await list()).body, { dlq_items: [], total: 0 })
    const { body } = await service.call(`GET /v1/events/${id}`, { token: tenant.admin })
    assert.deepEqual(
      body.deliveries.map(({ agent_id }: { agent_id: string }) => agent_id),
      [other.id],
    )
    assertError(await service.call(`POST /v1/delivery/dlq/${letter!.id}/replay`, { token: tenant.admin }), 'not_found')
  })

  test('[CON-13] the summary counts by reason, type and agent, the largest first', async () => {
    await bury('shop.order', 'timed out', [agent, other])
    await bury('shop.order', 'refused')
    await bury('shop.mail', 'timed out')
    const of = async (token: string) => (await service.call('GET /v1/delivery/dlq/summary', { token })).body
    assert.deepEqual(await of(tenant.admin), {
      total: 4,
      by_reason: [
        { reason: 'timed out', count: 3 },
        { reason: 'refused', count: 1 },
      ],
      by_event_type: [
        { event_type: 'shop.order', count: 3 },
        { event_type: 'shop.mail', count: 1 },
      ],
      by_agent: [
        { agent_id: agent.id, count: 3 },
        { agent_id: other.id, count: 1 },
      ],
    })
    assert.equal((await of(other.token)).total, 1)
    assert.deepEqual(await of((await service.tenant()).admin), {
      total: 0,
      by_reason: [],
      by_event_type: [],
      by_agent: [],
    })
  })
})
