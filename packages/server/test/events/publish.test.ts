import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { onBothEngines } from '../support/engines.ts'
import { assertError } from '../support/expect.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../support/service.ts'
import { event, interest, poll, publish } from './tools.ts'

const BATCH = 'application/cloudevents-batch+json'

onBothEngines((engine) => {
  describe('publish', () => {
    const service = serviceForSuite(engine, { MAX_EVENT_BYTES: '20000' })
    const agent = agentForSuite(tenantForSuite(service))
    before(async () => {
      await interest(service, agent)
    })

    const raw = (
      body: string | Uint8Array<ArrayBuffer>,
      headers: Record<string, string> = { 'content-type': 'application/json' },
    ) => service.call('POST /v1/events', { token: agent.token, raw: body, headers })
    const batch = (events: unknown) => raw(JSON.stringify(events), { 'content-type': BATCH })
    const received = async (): Promise<Record<string, unknown>> => (await poll(service, agent.token)).at(-1)!.payload

    test('[PUB-1] [PUB-17] a publish answers 202 with the id and the number of deliveries', async () => {
      const reply = await publish(service, agent.token, { id: 'one' })
      assert.equal(reply.status, 202)
      assert.deepEqual(reply.body, { event_id: 'one', status: 'accepted', recipients: 1 })
      const nobody = await publish(service, agent.token, { type: 'com.other.x' })
      assert.equal(nobody.body.recipients, 0)
    })

    test('[PUB-2] an id that was accepted before is a duplicate and changes nothing', async () => {
      await publish(service, agent.token, { id: 'twice', data: { n: 1 } })
      await poll(service, agent.token)
      const second = await publish(service, agent.token, { id: 'twice', data: { n: 2 } })
      assert.equal(second.status, 200)
      assert.deepEqual(second.body, { event_id: 'twice', status: 'duplicate' })
      assert.deepEqual(await poll(service, agent.token), [])
      const receipt = await service.call('GET /v1/events/twice', { token: agent.token })
      assert.deepEqual(receipt.body.event.data, { n: 1 })
      assert.equal(receipt.body.deliveries.length, 1)
    })

    test('[PUB-3] of many equal concurrent publishes one is accepted', async () => {
      const replies = await Promise.all(Array.from({ length: 20 }, () => publish(service, agent.token, { id: 'race' })))
      assert.deepEqual(replies.map((reply) => reply.status).sort(), [...Array(19).fill(200), 202])
      assert.equal((await poll(service, agent.token)).filter((delivery) => delivery.event_id === 'race').length, 1)
    })

    test('[PUB-4] [PUB-5] [PUB-6] every attribute is checked, with the field, the value and what was expected', async () => {
      const wrong: [field: string, value: unknown][] = [
        ['specversion', undefined],
        ['specversion', '0.3'],
        ['specversion', 1],
        ['type', undefined],
        ['type', ''],
        ['type', 'has space'],
        ['type', 'x'.repeat(256)],
        ['type', 5],
        ['type', 'tab\there'],
        ['type', 'nul\0'],
        ['source', undefined],
        ['source', ''],
        ['source', 'not a uri'],
        ['source', null],
        ['id', undefined],
        ['id', ''],
        ['id', 7],
        ['id', 'x'.repeat(513)],
        ['id', 'a\0b'],
        ['time', 'yesterday'],
        ['time', 5],
        ['time', '2030-02-30T00:00:00Z'],
        ['time', '2030-01-01T00:00:00'],
        ['time', null],
        ['datacontenttype', 7],
        ['subject', 7],
        ['subject', {}],
        ['replyto', { agent: 'a' }],
        ['correlationid', 7],
        ['id', 'half \ud800'],
        ['source', '/half\ud800'],
        ['subject', '\udfff half'],
      ]
      for (const [field, value] of wrong) {
        const reply = await publish(service, agent.token, { [field]: value })
        const details = assertError(reply, 'invalid_event', { field })
        assert.ok(typeof details['expected'] === 'string', field)
        // What is refused although it is neither empty nor long.
        if (field === 'id' && /\0|\ud800/.test(String(value)))
          assert.match(details['expected'], /without NUL or half surrogate pairs$/)
      }
      assert.equal(
        (
          await publish(service, agent.token, {
            type: 'x'.repeat(255),
            source: '../rel?x=1#y',
            time: '2030-01-01T00:00:00.5+02:00',
          })
        ).status,
        202,
      )
    })

    test('[PUB-7] [PUB-8] [DLV-2] the receiver gets the envelope as it was sent, extensions and exact numbers too', async () => {
      await raw(
        '{"specversion":"1.0", "type":"com.test.raw","source":"/a","id":"raw-1","traceparent":"00-x","weight":3,"data":{"big":12345678901234567890,"x":null}}',
      )
      const reply = await service.call('GET /v1/delivery/poll?limit=100', { token: agent.token })
      assert.match(reply.text, /"traceparent":"00-x","weight":3,"data":\{"big":12345678901234567890,"x":null\}\}/)
      await publish(service, agent.token, { id: 'null-data', data: null })
      assert.ok('data' in (await received()))
      await publish(service, agent.token, { id: 'no-data' })
      assert.ok(!('data' in (await received())))
    })

    test('[PUB-9] JSON nested deeper than 64 is refused, 64 passes', async () => {
      const nested = (depth: number): string =>
        `{"specversion":"1.0","type":"t","source":"/","id":"deep-${depth}","data":${'['.repeat(depth)}${']'.repeat(depth)}}`
      assert.equal((await raw(nested(63))).status, 202)
      assertError(await raw(nested(64)), 'invalid_event')
      assertError(await raw(nested(9000)), 'invalid_event')
    })

    test('[PUB-10] a body that is no JSON object is invalid_event with field body', async () => {
      for (const body of [
        '{',
        '',
        'null',
        '[]',
        '"x"',
        '5',
        '{"a":1}}',
        '\ufeff{}',
        Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      ]) {
        assertError(await raw(body), 'invalid_event', { field: 'body' })
      }
    })

    test('[PUB-11] [PUB-16] both JSON media types are structured events, others are refused', async () => {
      for (const type of [
        'application/json',
        'application/cloudevents+json',
        'application/cloudevents+json; charset=UTF-8',
      ]) {
        assert.equal((await raw(JSON.stringify(event()), { 'content-type': type })).status, 202, type)
      }
      assertError(await raw(JSON.stringify(event()), { 'content-type': 'text/plain' }), 'unsupported_media_type')
      assertError(
        await raw(JSON.stringify(event()), { 'content-type': 'application/cloudevents+json; charset=latin1' }),
        'unsupported_media_type',
      )
    })

    test('[PUB-12] binary mode gives the same event as structured mode', async () => {
      const headers = {
        'ce-specversion': '1.0',
        'ce-type': 'com.test.binary',
        'ce-source': '/bin',
        'ce-id': 'bin-1',
        'ce-subject': 'caf%C3%A9%20%25',
        'ce-mine': 'yes',
        'ce-__proto__': 'no',
        'content-type': 'application/json',
      }
      assert.equal((await raw('{"n": 1}', headers)).status, 202)
      assert.deepEqual(await received(), {
        specversion: '1.0',
        type: 'com.test.binary',
        source: '/bin',
        id: 'bin-1',
        subject: 'café %',
        mine: 'yes',
        ['__proto__']: 'no',
        datacontenttype: 'application/json',
        data: { n: 1 },
      })
      await raw('plain words', { ...headers, 'ce-id': 'bin-2', 'content-type': 'text/plain' })
      assert.equal((await received())['data'], 'plain words')
      await raw(Uint8Array.from([1, 2, 255]), {
        ...headers,
        'ce-id': 'bin-3',
        'content-type': 'application/octet-stream',
      })
      assert.equal((await received())['data_base64'], 'AQL/')
      // A quoted string, and raw UTF-8 as a shell sends it.
      const typed = { 'ce-subject': '"a \\" b%20c"', 'ce-mine': Buffer.from('Äö€').toString('latin1') }
      await raw('{}', { ...headers, 'ce-id': 'bin-5', ...typed })
      const { subject, mine } = await received()
      assert.deepEqual([subject, mine], ['a " b c', 'Äö€'])
      assertError(await raw('{"n": ', { ...headers, 'ce-id': 'bin-4' }), 'invalid_event', { field: 'data' })
      assertError(await raw('{}', { 'ce-type': 'x', 'content-type': 'application/json' }), 'invalid_event', {
        field: 'specversion',
      })
    })

    test('[PUB-13] [PUB-14] a batch is answered in order, each event on its own', async () => {
      const reply = await batch([
        event({ id: 'b-1' }),
        { specversion: '1.0' },
        'nonsense',
        event({ id: 'b-1' }),
        event({ id: 'b-2', type: 'com.else' }),
        event({ id: 'b-3', original: {} }),
      ])
      assert.equal(reply.status, 200)
      const { results } = reply.body
      assert.deepEqual(results[0], { event_id: 'b-1', status: 'accepted', recipients: 1 })
      assert.equal(results[1].error.code, 'invalid_event')
      assert.equal(results[2].error.details.field, 'body')
      assert.deepEqual(results[3], { event_id: 'b-1', status: 'duplicate' })
      assert.deepEqual(results[4], { event_id: 'b-2', status: 'accepted', recipients: 0 })
      assert.equal(results[5].error.details.field, 'original', 'only the service adds it')
      for (const wrong of [[], Array.from({ length: 101 }, () => event()), {}, 'x'])
        assertError(await batch(wrong), 'invalid_event', { field: 'body' })
      const most = await batch(Array.from({ length: 100 }, () => event({ id: 'b-1' })))
      assert.equal(most.body.results.length, 100, most.text)
      assertError(await raw('[{"a":1},', { 'content-type': BATCH }), 'invalid_event', { field: 'body' })
      assertError(await raw('[{"a":1} {"b":2}]', { 'content-type': BATCH }), 'invalid_event', { field: 'body' })
    })

    test('[PUB-15] [PUB-16] size limits: each event, the batch, the single event', async () => {
      const big = (bytes: number, id: string): string => {
        const start = `{"specversion":"1.0","type":"com.test.big","source":"/","id":"${id}","data":"`
        return `${start}${'x'.repeat(bytes - start.length - 2)}"}`
      }
      assert.equal((await raw(big(20_000, 'fits'))).status, 202)
      assertError(await raw(big(20_001, 'over')), 'payload_too_large', { actual_size: 20_001, max_size: 20_000 })
      const reply = await raw(`[${big(20_000, 'b-fits')},${big(20_001, 'b-over')}]`, { 'content-type': BATCH })
      assert.equal(reply.body.results[0].status, 'accepted')
      assert.equal(reply.body.results[1].error.code, 'payload_too_large')
      const eleven = `[${Array.from({ length: 11 }, (_, i) => big(20_000, `many-${i}`)).join(',')}]`
      assertError(await raw(eleven, { 'content-type': BATCH }), 'payload_too_large', { max_size: 200_000 })
    })

    test('[IDEM-1] a publish repeated with its key is answered the same, and so is a batch', async () => {
      const body = event({ id: 'idem-1' })
      const send = () =>
        service.call('POST /v1/events', { token: agent.token, body, headers: { 'idempotency-key': 'publish-1' } })
      const first = await send()
      const second = await send()
      assert.equal(second.status, 202)
      assert.equal(second.text, first.text)
      assert.equal(second.headers.get('idempotent-replayed'), 'true')
      const other = await service.call('POST /v1/events', {
        token: agent.token,
        body: event({ id: 'idem-2' }),
        headers: { 'idempotency-key': 'publish-1' },
      })
      assertError(other, 'conflict', { idempotency_key: 'publish-1', existing_resource_id: 'idem-1' })
      const headers = {
        'ce-specversion': '1.0',
        'ce-type': 't',
        'ce-source': '/',
        'content-type': 'application/json',
        'idempotency-key': 'binary-1',
      }
      assert.equal((await raw('{}', { ...headers, 'ce-id': 'idem-3' })).status, 202)
      assertError(await raw('{}', { ...headers, 'ce-id': 'idem-4' }), 'conflict')
    })
  })
})
