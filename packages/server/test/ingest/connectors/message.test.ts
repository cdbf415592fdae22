// Reading AMQP messages, without a broker.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import rhea, { type Message } from 'rhea'
import { Failure } from '../../../src/kernel/failure.ts'
import { compileMapping, completeMapping } from '../../../src/ingest/mapping.ts'
import { readMessage } from '../../../src/ingest/connectors/amqp-message.ts'
import { Unreadable } from '../../../src/ingest/connectors/amqp-encoding.ts'
import { HOSTILE_MESSAGES } from './hostile-messages.ts'

const mapper = compileMapping(
  'erp',
  completeMapping({ action: 'has(body.action) ? body.action : headers["x-action"]' }),
)
/** The message as it comes off the wire. */
const read = (message: Message) => readMessage(rhea.message.encode(message) as unknown as Buffer, mapper, 1000, 0)
const data = (text: string | Buffer) => rhea.message.data_section(Buffer.from(text))

const BODY = { entity: 'order', action: 'created', id: 'o-1' }
const JSON_BODY = JSON.stringify(BODY)

test('[AMQP-5] JSON is mapped like a webhook body, as bytes, in several sections or as a string', async () => {
  for (const body of [
    data(JSON_BODY),
    rhea.message.data_sections([Buffer.from(JSON_BODY.slice(0, 9)), Buffer.from(JSON_BODY.slice(9))]),
    JSON_BODY,
  ]) {
    const event = await read({ body, content_type: 'application/json' })
    assert.deepEqual([event.type, event.id, event.subject], ['com.erp.order.created', 'erp:o-1', 'order/o-1'])
    assert.deepEqual([event.envelope['data'], event.envelope['original']], [BODY, BODY])
  }
})

test('[AMQP-5] without a mapped id the message id is used, else a hash, and there is no subject', async () => {
  const body = data('{"entity":"order"}')
  assert.equal((await read({ body, message_id: 'm-1' })).id, 'erp:m-1')
  assert.equal((await read({ body, message_id: 17 })).id, 'erp:17')
  assert.equal(
    (
      await read({
        body,
        message_id: rhea.types.wrap_uuid(Buffer.from('00112233445566778899aabbccddeeff', 'hex')) as unknown as string,
      })
    ).id,
    'erp:00112233445566778899aabbccddeeff',
  )
  assert.equal((await read({ body })).id, `erp:${createHash('sha256').update('{"entity":"order"}').digest('hex')}`)
  assert.equal((await read({ body, message_id: 'm-1' })).subject, null)
})

test('[AMQP-5] the mapping sees properties as headers, names in lower case', async () => {
  const event = await read({ body: data('{"entity":"order"}'), application_properties: { 'X-Action': 'Shipped' } })
  assert.equal(event.type, 'com.erp.order.shipped')
  assert.equal((await read({ body: data('{"x":1}') })).type, 'com.erp.unmapped.received')
})

test('[AMQP-4] [AMQP-5] a property named `__proto__` is one like any other', async () => {
  const byHeader = compileMapping('erp', completeMapping({ action: 'headers["__proto__"]' }))
  const message = { body: data('{"entity":"order"}'), application_properties: { __PROTO__: 'Shipped' } }
  const bytes = rhea.message.encode(message) as unknown as Buffer
  assert.equal((await readMessage(bytes, byHeader, 1000, 0)).type, 'com.erp.order.shipped')
  const attributes = { specversion: '1.0', type: 't', id: 'i', source: '/s', __PROTO__: 'x' }
  const application_properties = Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [`cloudEvents:${name.toLowerCase()}`, value]),
  )
  const { text } = await read({ body: data('1'), application_properties })
  assert.equal(text, '{"specversion":"1.0","type":"t","id":"i","source":"/s","__proto__":"x","data":1}')
})

test('[AMQP-5] a timestamp beyond all dates is null for the mapping, and the message is read', async () => {
  const byHeader = compileMapping('erp', completeMapping({ action: 'headers.until == null ? "kept" : "dated"' }))
  const typeOf = async (ms: number): Promise<string> => {
    const application_properties = { until: rhea.types.wrap_timestamp(ms) }
    const bytes = rhea.message.encode({ body: data('{"entity":"order"}'), application_properties })
    return (await readMessage(bytes as unknown as Buffer, byHeader, 1000, 0)).type
  }
  // Java's Long.MAX_VALUE stands for "never"; half of it is what the encoder of the test can write.
  assert.equal(await typeOf(9e15), 'com.erp.order.kept')
  assert.equal(await typeOf(0), 'com.erp.order.dated')
})

for (const prefix of ['cloudEvents:', 'cloudEvents_']) {
  test(`[AMQP-4] binary mode with ${prefix} keeps type, id, source and data, unmapped`, async () => {
    const application_properties = {
      [`${prefix}specversion`]: '1.0',
      [`${prefix}type`]: 'com.example.made',
      [`${prefix}id`]: 'A-1',
      [`${prefix}source`]: '/example',
      [`${prefix}time`]: new Date(0),
      [`${prefix}traceparent`]: '00-x',
      other: 'ignored',
    }
    const event = await read({
      body: data('{"big": 12345678901234567890}'),
      content_type: 'application/json',
      application_properties,
    })
    assert.deepEqual([event.type, event.id, event.source], ['com.example.made', 'A-1', '/example'])
    assert.ok(event.text.endsWith('"data":{"big": 12345678901234567890}}'))
    const { data: _, ...attributes } = event.envelope
    assert.deepEqual(attributes, {
      specversion: '1.0',
      type: 'com.example.made',
      id: 'A-1',
      source: '/example',
      time: '1970-01-01T00:00:00.000Z',
      traceparent: '00-x',
      datacontenttype: 'application/json',
    })
    // Data need not be JSON, and may be missing.
    assert.equal(
      (await read({ body: data('plain'), content_type: 'text/plain', application_properties })).envelope['data'],
      'plain',
    )
    assert.equal(
      (await read({ body: data(Buffer.from([1, 2])), content_type: 'image/png', application_properties })).envelope[
        'data_base64'
      ],
      'AQI=',
    )
    assert.ok(!('data' in (await read({ body: data(''), application_properties })).envelope))
  })
}

test('[ING-12] whole numbers of 64 bits are exact for filters, mapped and structured', async () => {
  const mapped = await read({ body: data('{"entity":"order","action":"paid","id":9007199254740993}') })
  assert.deepEqual([mapped.id, mapped.subject], ['erp:9007199254740993', 'order/9007199254740993'])
  const text = '{"specversion":"1.0","type":"t","source":"/s","id":"i","data":{"n":9007199254740993}}'
  const structured = await read({ body: data(text), content_type: 'application/cloudevents+json' })
  assert.deepEqual([structured.envelope['data'], structured.text], [{ n: 9007199254740993n }, text])
})

test('[AMQP-4] structured mode keeps the envelope as it came', async () => {
  const text = '{ "specversion":"1.0","type":"com.example.made","id":"A-2","source":"/example","data":{"n":1.0} }'
  const event = await read({ body: data(text), content_type: 'application/cloudevents+json; charset=utf-8' })
  assert.deepEqual([event.id, event.text], ['A-2', text])
  assert.ok(!('original' in event.envelope))
})

const BAD: [name: string, message: Message][] = [
  ['text that is no JSON', { body: data('hello') }],
  ['bytes that are no UTF-8', { body: data(Buffer.from([0x22, 0xff, 0x22])) }],
  ['nothing', { body: data('') }],
  ['a map', { body: { a: 1 } }],
  ['a broken structured event', { body: data('{'), content_type: 'application/cloudevents+json' }],
  [
    'a structured event without an id',
    { body: data('{"specversion":"1.0","type":"a","source":"/"}'), content_type: 'application/cloudevents+json' },
  ],
  [
    'a binary event without a type',
    {
      body: data('1'),
      application_properties: { 'cloudEvents:id': '1', 'cloudEvents:specversion': '1.0', 'cloudEvents:source': '/' },
    },
  ],
  [
    'a binary event with data as an attribute',
    { body: data('1'), application_properties: { 'cloudEvents:data': '1' } },
  ],
  ['JSON over the size limit', { body: data(JSON.stringify('x'.repeat(1000))) }],
]
for (const [name, message] of BAD) {
  test(`[AMQP-3] ${name} is rejected`, async () => {
    await assert.rejects(
      () => read(message),
      (error) => error instanceof Unreadable || (error instanceof Failure && error.status < 500),
    )
  })
}

test('[ING-7] attributes that only the service sets are removed from a CloudEvent, in both modes', async () => {
  const event = await read({
    body: data(
      '{"specversion":"1.0","type":"a","id":"A-3","source":"/","\\u006friginal":{"x":1},"enrichment":{},"data":{"n":1.0,"big":12345678901234567890}}',
    ),
    content_type: 'application/cloudevents+json',
  })
  assert.deepEqual(Object.keys(event.envelope), ['specversion', 'type', 'id', 'source', 'data'])
  assert.equal(
    event.text,
    '{"specversion":"1.0","type":"a","id":"A-3","source":"/","data":{"n":1.0,"big":12345678901234567890}}',
  )
  const application_properties = {
    'cloudEvents:specversion': '1.0',
    'cloudEvents:type': 'a',
    'cloudEvents:id': 'A-4',
    'cloudEvents:source': '/',
    'cloudEvents:original': 'forged',
    cloudEvents_enrichment: 'forged',
  }
  const binary = await read({ body: data('{"n":1.0}'), content_type: 'application/json', application_properties })
  assert.deepEqual(JSON.parse(binary.text), binary.envelope)
  assert.ok(!('original' in binary.envelope) && !('enrichment' in binary.envelope))
  // Inside the data the sender may use those names.
  assert.deepEqual((await read({ body: data('{"original":1,"enrichment":2}') })).envelope['original'], {
    original: 1,
    enrichment: 2,
  })
})

for (const [name, bytes] of HOSTILE_MESSAGES) {
  test(`[ING-8] ${name} is not decoded`, async () => {
    await assert.rejects(() => readMessage(bytes, mapper, 1000, 0), Unreadable)
  })
}

test('[ING-8] reading any bytes ends with an event or a reason', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.boolean(), async (noise, inSection) => {
      const bytes = Buffer.concat([inSection ? Buffer.from([0x00, 0x53, 0x77]) : Buffer.alloc(0), noise])
      try {
        await readMessage(bytes, mapper, 1000, 0)
      } catch (error) {
        assert.ok(error instanceof Error && !(error instanceof RangeError), String(error))
      }
    }),
    { numRuns: 5_000 },
  )
})

const LONG = `[${Array(100_000).fill('{}').join(',')}]`

/** Reads a message, and returns its event and how many turns of the event loop passed meanwhile. */
async function turnsOf(message: Message) {
  let turns = 0
  let isOver = false
  const count = (): void => void (isOver || (turns++, setImmediate(count)))
  setImmediate(count)
  const bytes = rhea.message.encode(message) as unknown as Buffer
  const event = await readMessage(bytes, mapper, 1_000_000, 0).finally(() => (isOver = true))
  return { turns, event }
}

const event = { 'cloudEvents:specversion': '1.0', 'cloudEvents:type': 'a', 'cloudEvents:id': 'A-6' }
for (const [how, message] of [
  ['mapped JSON', { body: data(`{"entity":"order","id":"o-1","items":${LONG}}`) }],
  [
    'a structured event with attributes that are removed',
    {
      body: data(`{"specversion":"1.0","original":${LONG},"type":"a","id":"A-5","source":"/","data":${LONG}}`),
      content_type: 'application/cloudevents+json',
    },
  ],
  [
    'a binary event',
    {
      body: data(LONG),
      content_type: 'application/json',
      application_properties: { ...event, 'cloudEvents:source': '/' },
    },
  ],
] as [string, Message][])
  test(`[SAFE-17] ${how} is read in steps if it is long`, async () => {
    const { turns, event } = await turnsOf(message)
    assert.ok(turns > 30, String(turns))
    assert.ok(event.text.includes(LONG))
    assert.equal(event.text.includes('"original"'), how === 'mapped JSON')
  })
