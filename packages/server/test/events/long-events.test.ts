// Events over 32 KiB: their data is parsed only for filters, in slices, with the same results as for short events.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { NO_ADDRESSEES } from '../../src/events/addressee.ts'
import { NONE_KNOWN } from '../../src/events/causation.ts'
import { prepareEvent } from '../../src/events/envelope.ts'
import { readEvent } from '../../src/http/cloud-events.ts'
import type { Handover } from '../../src/delivery/handover.ts'
import { routeInSlices } from '../../src/events/route-events.ts'
import { makeRouteStored } from '../../src/events/route-stored.ts'
import { makeWriteGroup } from '../../src/events/write-group.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { makeFilters } from '../../src/routing/filters.ts'
import { makeRouter, RoutingMoved } from '../../src/routing/router.ts'
import { RoutingTable } from '../../src/routing/table.ts'
import { onBothEngines } from '../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'

const PADDING = 'x'.repeat(40_000)

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const agent = agentForSuite(tenant)
  before(async () => {
    for (const filter_expression of ['data.n == 9007199254740993', 'event.colour == "red" && data.list.size() == 2'])
      await service.call(`POST /v1/agents/${agent.id}/interests`, {
        token: agent.token,
        body: { event_type: 'long.*', filter_expression, priority: 1, enrichment_depth: 'none' },
      })
  })

  const send = (raw: string, headers: Record<string, string> = {}) =>
    service.call('POST /v1/events', {
      token: agent.token,
      raw,
      headers: { 'content-type': 'application/cloudevents+json', ...headers },
    })
  const envelope = (id: string, rest: string): string =>
    `{"specversion":"1.0","type":"long.one","source":"/a","id":"${id}",${rest}}`

  test('[SAFE-34] nested values of a long event are not kept, attributes are checked, filters see all', async () => {
    const junk = `[${Array(20_000).fill('{}').join(',')}]`
    const raw = (rest: string): Buffer => Buffer.from(envelope('l-0', rest))
    const read = await readEvent({}, 'application/cloudevents+json', raw(`"junk":${junk},"colour":"red","data":[]`))
    assert.deepEqual(
      [read.envelope['junk'], read.envelope['data'], read.envelope['colour']],
      [undefined, undefined, 'red'],
    )
    const sent = envelope('l-nested', `"colour":"red","junk":${junk},"data":{"list":[{},[]]}`)
    assert.equal((await send(sent)).body.recipients, 1)
    const { body } = await service.call('GET /v1/delivery/poll', { token: agent.token })
    const delivery_ids = body.deliveries.map(({ id }: { id: string }) => id)
    assert.equal(delivery_ids.length, 1)
    await service.call('POST /v1/delivery/ack', { token: agent.token, body: { delivery_ids } })
    const refused = await send(envelope('l-time', `"junk":"${PADDING}","time":{"a":[]}`))
    assert.deepEqual([refused.status, refused.body.error.details.field], [400, 'time'])
  })

  test('[SAFE-18] a filter sees the whole of a long event in every mode, and it is delivered as sent', async () => {
    const data = ` { "n":9007199254740993, "pad": "${PADDING}" } `
    const structured = envelope('l-1', `"data":${data}`)
    assert.deepEqual((await send(structured)).body, { event_id: 'l-1', status: 'accepted', recipients: 1 })
    const attribute = envelope('l-2', `"data":{"list":[1,2],"pad":"${PADDING}"},"colour":"red"`)
    assert.equal((await send(attribute)).body.recipients, 1)
    const none = envelope('l-3', `"data":{"n":9007199254740992,"pad":"${PADDING}"}`)
    assert.equal((await send(none)).body.recipients, 0)
    const binary = await send(data, {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-type': 'long.two',
      'ce-source': '/a',
      'ce-id': 'l-4',
    })
    assert.equal(binary.body.recipients, 1, binary.text)
    const batch = `[${envelope('l-5', `"data":${data}`)},${none},${envelope('l-6', '"data":{"n":9007199254740993}')}]`
    const { body } = await send(batch, { 'content-type': 'application/cloudevents-batch+json' })
    assert.deepEqual(
      body.results.map((result: { status: string; recipients?: number }) => [result.status, result.recipients]),
      [
        ['accepted', 1],
        ['duplicate', undefined],
        ['accepted', 1],
      ],
    )
    const polled = await service.call('GET /v1/delivery/poll', { token: agent.token })
    assert.ok(polled.text.includes(`"payload":${structured},`))
    assert.deepEqual(
      polled.body.deliveries.map(({ event_id }: { event_id: string }) => event_id),
      ['l-1', 'l-2', 'l-4', 'l-5', 'l-6'],
    )
  })

  test('[SAFE-18] a replay matches a long event over many turns, before its transaction begins', async () => {
    const text = envelope('l-9', `"data":{"list":[${'{},'.repeat(300_000)}{}]}`)
    const routeStored = makeRouteStored(
      makeRouter(service.store, () => {}),
      service.store,
    )
    let turns = 0
    let ticking = setImmediate(function next() {
      turns++
      ticking = setImmediate(next)
    })
    const routed = await routeStored(tenant.id, agent.id, [{ id: 'l-9', envelope: text }])
    clearImmediate(ticking)
    assert.ok(turns >= 20, `${turns} turns`)
    assert.ok(routed.has('l-9'))
    assert.equal(routed.matchOf('l-9', agent.id), undefined)
  })

  test('[SAFE-18] when routing changes meanwhile, a long event is routed again outside its transaction', async () => {
    const text = envelope('l-10', `"data":{"pad":"${PADDING}"}`)
    const event = prepareEvent({ ...JSON.parse(text), data: undefined }, text, true)
    const submission = { tenantId: tenant.id, senderId: agent.id, events: [event] }
    const routed = {
      version: -1,
      stamp: '',
      events: [{ matches: [], refused: null }],
      steps: 0,
      addressees: NO_ADDRESSEES,
    }
    const router = makeRouter(service.store, () => {})
    const write = makeWriteGroup(router, idMaker(service.clock.now), service.clock)
    const nobodyWaits: Handover['take'] = (deliveries) => ({ leased: [], ready: deliveries, settle: () => {} })
    await assert.rejects(
      service.store.tx((tx) => write(tx, [{ submission, routed }], true, nobodyWaits, NONE_KNOWN)),
      RoutingMoved,
    )
  })

  test('[SAFE-22] backfill and replay see numbers as exactly as a publish did, long events too', async () => {
    const late = await tenant.agent()
    const filter_expression = 'data.n == 9007199254740993'
    const fields = { event_type: 'exact.*', filter_expression, priority: 3, enrichment_depth: 'none' }
    const exact = (id: string, n: string, pad: string): string =>
      `{"specversion":"1.0","type":"exact.one","source":"/a","id":"${id}","data":{"n":${n},"pad":"${pad}"}}`
    for (const [id, n, pad] of [
      ['x-1', '9007199254740993', ''],
      ['x-2', '9007199254740992', ''],
      ['x-3', '9007199254740993', PADDING],
      ['x-4', '9007199254740992', PADDING],
    ] as const)
      assert.equal((await send(exact(id, n, pad))).status, 202)
    const made = await service.call(`POST /v1/agents/${late.id}/interests`, {
      token: late.token,
      body: { ...fields, backfill: 10 },
    })
    assert.equal(made.status, 201, made.text)
    const { deliveries } = (await service.call('GET /v1/delivery/poll', { token: late.token })).body
    assert.deepEqual(
      deliveries.map(({ event_id }: { event_id: string }) => event_id),
      ['x-1', 'x-3'],
    )
    // A second interest has another priority now: a replay evaluates its filter again.
    const delivery_ids = deliveries.map(({ id }: { id: string }) => id)
    await service.call('POST /v1/delivery/nack', { token: late.token, body: { delivery_ids, dead_letter: true } })
    await service.call(`POST /v1/agents/${late.id}/interests`, {
      token: late.token,
      body: { ...fields, event_type: 'exact.one', priority: 9 },
    })
    await service.call(`POST /v1/delivery/dlq/${delivery_ids[0]}/replay`, { token: late.token })
    const [row] = await service.store.rows<{ priority: number }>(
      'select priority from deliveries where tenant_id = ? and id = ?',
      [tenant.id, delivery_ids[0]],
    )
    assert.equal(row!.priority, 9)
  })

  test('[SAFE-18] a long event is refused for the same reasons as a short one', async () => {
    const pad = `"pad":"${PADDING}"`
    for (const [raw, field] of [
      [envelope('r-1', `"data":{${pad},}`), 'body'],
      [envelope('r-1', `"data":${'['.repeat(64)}"${PADDING}"${']'.repeat(64)}`), 'body'],
      [envelope('r-1', `"data":{${pad}},"original":1`), 'original'],
      [envelope('r-1', `"data":{${pad}},"data_base64":"AAAA"`), 'data_base64'],
      [envelope('', `"data":{${pad}}`), 'id'],
      [`[${pad.slice(6)}]`, 'body'],
    ] as const) {
      const reply = await send(raw)
      assert.deepEqual([reply.status, reply.body.error?.details.field], [400, field], reply.text)
    }
  })
})

const ATTRIBUTES = { specversion: '1.0', type: 'a.b', source: '/a', id: 'x', data: undefined }

/** Routes one long event and counts the slices that it took. */
function route(filter: string | null, text: string): { slices: number; recipients: number } {
  const table = new RoutingTable()
  const base = { kind: 'interest', id: 'int_1', agentId: 'agt_1', channelId: null, glob: 'a.*' } as const
  table.put({ ...base, filter, priority: 0, enrichment: 'none' })
  const given = { tenantId: 't', senderId: 's', events: [prepareEvent(ATTRIBUTES, text, true)] }
  const routing = routeInSlices(table, given, NO_ADDRESSEES, { filters: makeFilters(), overBudget: () => {} })
  for (let slices = 1; ; slices++) {
    const next = routing.next()
    if (next.done) return { slices, recipients: next.value.events[0]!.matches.length }
  }
}

test('[SAFE-18] the data of a long event is parsed in slices, and not at all when no filter reads it', () => {
  const text = `{"type":"a.b","data":[${Array(300_000).fill('{}').join(',')}]}`
  const { slices, recipients } = route('data.size() == 300000', text)
  assert.equal(recipients, 1)
  assert.ok(slices > 20, `${slices} slices`)
  assert.deepEqual(route(null, 'nobody reads this'), { slices: 1, recipients: 1 })
})
