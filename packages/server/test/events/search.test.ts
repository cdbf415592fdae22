// Searching the events of a tenant.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { EventSummary } from '@sensorium/contract'
import { summarize } from '../../src/events/summaries.ts'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { agentForSuite, serviceForSuite, tenantForSuite, type TestAgent } from '../support/service.ts'
import { interest, publish } from './tools.ts'

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  let colleague: TestAgent
  let noon: string
  before(async () => {
    colleague = await tenant.agent()
    await interest(service, colleague, { event_type: 'shop.*' })
    await publish(service, agent.token, { id: 'one', type: 'shop.order.made', subject: 'order/1', data: { total: 1 } })
    await service.clock.advance(1_000)
    noon = new Date(service.clock.now()).toISOString()
    await publish(service, agent.token, {
      id: 'two',
      type: 'shop.order.paid',
      subject: 'order/1',
      source: '/till',
      causationid: 'one',
    })
    await service.clock.advance(1_000)
    await publish(service, colleague.token, { id: 'three', type: 'mail.sent', subject: 'order/2' })
  })

  const search = (query = '', token = tenant.admin) =>
    service.call<{ events: EventSummary[]; total: number; searched_back_to: string | null }>(`GET /v1/events${query}`, {
      token,
    })
  const found = async (query: string): Promise<string[]> => (await search(query)).body.events.map(({ id }) => id)

  test('[CON-8] a search without filters lists all events, newest first, with their summaries', async () => {
    const { body } = await search()
    assert.deepEqual(
      body.events.map(({ id }) => id),
      ['three', 'two', 'one'],
    )
    assert.deepEqual([body.total, body.searched_back_to], [3, null])
    assert.deepEqual(body.events[2], {
      id: 'one',
      type: 'shop.order.made',
      source: '/test',
      subject: 'order/1',
      time: null,
      received_at: '2030-01-01T00:00:00.000Z',
      sender: agent.id,
      recipients: 1,
      snippet: '{"total":1}',
    })
    assert.equal(body.events[0]!.recipients, 0)
  })

  const cases: [string, () => string, string[]][] = [
    ['type', () => '?type=shop.*', ['two', 'one']],
    ['subject', () => '?subject=order/1', ['two', 'one']],
    ['source', () => '?source=/till', ['two']],
    ['id', () => '?id=three', ['three']],
    ['id of nothing', () => '?id=four', []],
    ['id and a type that is another', () => '?id=three&type=shop.*', []],
    ['sender', () => `?sender=${colleague.id}`, ['three']],
    ['what it caused', () => '?causationid=one', ['two']],
    ['since', () => `?since=${noon}`, ['three', 'two']],
    ['until', () => `?until=${noon}`, ['two', 'one']],
    ['since and until', () => `?since=${noon}&until=${noon}`, ['two']],
    ['two of them', () => '?type=shop.*&source=/test', ['one']],
    ['a page', () => '?offset=1&limit=1', ['two']],
  ]
  for (const [by, query, expected] of cases) {
    test(`[CON-8] by ${by}`, async () => assert.deepEqual(await found(query()), expected))
  }

  test('[CON-8] a malformed filter is 400, and no event of another tenant is found', async () => {
    assertError(await search('?since=yesterday'), 'validation_failed', { field: 'since' })
    assertError(await search('?limit=0'), 'validation_failed', { field: 'limit' })
    assertError(await search('?type='), 'validation_failed', { field: 'type' })
    const other = await service.tenant()
    assert.deepEqual((await search('', other.admin)).body, { events: [], total: 0, searched_back_to: null })
    assert.deepEqual((await search('?id=one', other.admin)).body.events, [])
  })

  test('[CON-9] a search looks through 10,000 events and says where to continue', async () => {
    const home = await service.tenant()
    const sender = await home.agent()
    for (let batch = 0; batch < 101; batch++) {
      const events = Array.from({ length: 100 }, (_, n) => ({
        specversion: '1.0',
        type: batch === 0 ? 'rare' : 'usual',
        source: '/s',
        id: `e-${batch}-${n}`,
      }))
      await service.call('POST /v1/events', {
        token: sender.token,
        raw: JSON.stringify(events),
        headers: { 'content-type': 'application/cloudevents-batch+json' },
      })
      await service.clock.advance(10)
    }
    const first = (await search('?type=rare', home.admin)).body
    assert.deepEqual([first.events, first.total], [[], 0])
    const next = (await search(`?type=rare&until=${first.searched_back_to}`, home.admin)).body
    assert.deepEqual([next.events.length, next.total, next.searched_back_to], [50, 100, null])
    assert.equal((await search('?limit=200', home.admin)).body.total, 10_000)
  })

  test('[CON-9] the envelopes of a page are read 64 KiB in a turn of the event loop', async () => {
    const home = await service.tenant()
    const sender = await home.agent()
    const data = 'д'.repeat(5_000)
    for (let n = 0; n < 40; n++) await publish(service, sender.token, { id: `long-${n}`, data })
    await publish(service, sender.token, { id: 'longest', data: 'x'.repeat(20_000) })
    const { events } = (await search('?limit=200', home.admin)).body
    assert.deepEqual(
      events.map(({ id, snippet }) => [id, snippet?.slice(0, 3) ?? null]),
      [['longest', null], ...Array.from({ length: 40 }, (_, n) => [`long-${39 - n}`, '"дд'])],
    )
    const stored = await service.store.rows<{ id: string; bytes: number }>(
      'select id, octet_length(envelope) as bytes from events where tenant_id = ?',
      [home.id],
    )
    const rows = stored.map((row) => ({ ...row, type: '', source: '', subject: null, sender_id: '', received_at: 0 }))
    let pauses = 0
    await summarize(service.store, home.id, rows, async () => void pauses++)
    assert.equal(pauses, Math.ceil(40 / 6) - 1, 'six envelopes are 64 KiB')
  })
})
