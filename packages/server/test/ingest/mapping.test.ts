// The mapping from a body to an event, on its own.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Failure } from '../../src/kernel/failure.ts'
import { parseJson, withExactNumbers } from '../../src/kernel/json.ts'
import { completeMapping, compileMapping, DEFAULT_MAPPING } from '../../src/ingest/mapping.ts'
import { MAX_EVENT_ID, type IngestMapping } from '@sensorium/contract'
import { atOnce } from '../../src/kernel/step-turns.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')

const exactly = (text: string): unknown => withExactNumbers(text, JSON.parse(text))

function map(body: unknown, given: IngestMapping = {}, headers: Record<string, string> = {}, source = 'shop') {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const arrival = { body: exactly(text), raw: Buffer.from(text), headers, now: NOW }
  const event = atOnce(compileMapping(source, completeMapping(given)).map(arrival))
  assert.deepEqual(exactly(event.text), event.envelope, 'the text that is stored says what routing saw')
  return event
}
const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

test('[HOOK-7] [HOOK-8] the defaults read entity, action and id of the body; data is the body', () => {
  const body = { entity: 'order', action: 'created', id: 'o-1', total: 40 }
  const { envelope, type, id, subject } = map(body)
  assert.deepEqual([type, id, subject], ['com.shop.order.created', 'shop:o-1', 'order/o-1'])
  assert.deepEqual(envelope, {
    specversion: '1.0',
    type,
    source: '/ingest/shop',
    id,
    time: '2030-01-01T00:00:00.000Z',
    datacontenttype: 'application/json',
    subject,
    data: body,
    original: body,
  })
})

const PARTS: [entity: unknown, action: unknown, type: string][] = [
  ['Order', 'CREATED', 'com.shop.order.created'],
  ['sales.order', 'line item/added', 'com.shop.sales_order.line_item_added'],
  ['größe', '🎉', 'com.shop.gr__e._'],
  ['a-b_c', 7, 'com.shop.a-b_c.7'],
]
for (const [entity, action, type] of PARTS) {
  test(`[HOOK-7] ${entity} and ${action} make ${type}`, () => assert.equal(map({ entity, action }).type, type))
}

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

const UNMAPPED: [name: string, body: unknown, mapping?: IngestMapping][] = [
  ['no entity', { action: 'created', id: 1 }],
  ['no action', { entity: 'order' }],
  ['an empty entity', { entity: '', action: 'created' }],
  ['an entity that is no name', { entity: { a: 1 }, action: 'created' }],
  [
    'an entity beyond every length',
    { s: 'x'.repeat(100_000), action: 'created' },
    { entity: 'body.s.replace("", body.s)' },
  ],
  [
    'data beyond every length',
    { entity: 'a', action: 'b', s: 'x'.repeat(100_000) },
    { data: 'body.s.split("").join(body.s)' },
  ],
  ['null', null],
  ['an array', [1, 2]],
  ['a text', '"hello"'],
  ['a type that would be too long', { entity: 'x'.repeat(300), action: 'created' }],
  ['data that cannot be read', { entity: 'order', action: 'created' }, { data: 'body.missing' }],
  [
    'data that nests too deep for an envelope',
    { entity: 'order', action: 'created', v: nested(62) },
    { data: '{"list": [body]}' },
  ],
  [
    'an expression that takes too much work',
    { entity: 'order', action: 'created', list: Array.from({ length: 400 }, (_, i) => i) },
    { entity: 'string(body.list.map(a, body.list.map(b, body.list.exists(c, c == a + b))).size())' },
  ],
]
test('[ING-30] what a mapping makes can be read back from the store, however deep the body nests', () => {
  for (let depth = 55; depth <= 62; depth++) {
    const body = { entity: 'order', action: 'created', v: nested(depth) }
    for (const data of ['{"list": [body]}', '[body.v]', 'body.v', '{"a": {"b": body}}', '[[{"c": [body.v]}]]']) {
      const { text, type } = map(body, { data })
      assert.ok(parseJson(Buffer.from(text)).ok, `${data} of a body ${depth} deep`)
      if (depth < 59) assert.equal(type, 'com.shop.order.created')
    }
  }
})

for (const [name, body, mapping] of UNMAPPED) {
  test(`[HOOK-9] ${name} is kept as an unmapped event with the whole body`, () => {
    const { type, envelope, subject } = map(body, mapping)
    assert.equal(type, 'com.shop.unmapped.received')
    assert.equal(subject, null)
    const expected = typeof body === 'string' ? JSON.parse(body) : body
    assert.deepEqual([envelope['data'], envelope['original']], [expected, expected])
  })
}

test('[HOOK-9] [HOOK-10] without an id there is no subject, and the id is a hash of the body', () => {
  const text = '{"entity": "order", "action": "created"}'
  const event = map(text, { subject: '"fixed"' })
  assert.deepEqual([event.id, event.subject, 'subject' in event.envelope], [`shop:${hash(text)}`, null, false])
})

test('[HOOK-10] [ING-12] an id may be a whole number of 64 bits, but not contain NUL or be too long', () => {
  const id = (value: string) => map(`{"entity":"order","action":"created","id":${value}}`).id
  for (const whole of ['17', '1234567890123456788', '-9223372036854775808']) assert.equal(id(whole), `shop:${whole}`)
  const near = [
    '9223372036854775808',
    '9223372036854775809',
    '"a\\u0000b"',
    JSON.stringify('x'.repeat(508)),
    '""',
    'null',
    '1.5',
    '{}',
  ].map(id)
  for (const one of near) assert.match(one, /^shop:[0-9a-f]{64}$/)
  assert.equal(new Set(near).size, near.length)
  assert.equal(id(JSON.stringify('x'.repeat(507))), `shop:${'x'.repeat(507)}`)
})

test('[HOOK-11] original and data keep the exact text of the body, numbers and spaces included', () => {
  const text = '{ "entity":"order","action":"created", "n": 12345678901234567890.10, "s":"\\u00e9" }'
  const stored = map(text).text
  assert.ok(stored.includes(`"data":${text},"original":${text}}`))
})

test('[HOOK-8] expressions see body and headers, the subject also mapped values; data is its own result', () => {
  const mapping = {
    entity: 'headers["x-kind"]',
    action: 'body.what.lowerAscii()',
    id: 'string(body.n)',
    subject: 'entity + ":" + action + ":" + id',
    data: '{"n": body.n, "all": body.list.map(x, x * 2)}',
  }
  const event = map({ what: 'MADE', n: 5, list: [1, 2] }, mapping, { 'x-kind': 'Thing' })
  assert.deepEqual([event.type, event.id, event.subject], ['com.shop.thing.made', 'shop:5', 'Thing:made:5'])
  assert.deepEqual(event.envelope['data'], { n: 5, all: [2, 4] })
  assert.deepEqual(event.envelope['original'], { what: 'MADE', n: 5, list: [1, 2] })
})

test('[HOOK-8] a subject expression that fails leaves the event without a subject', () => {
  const event = map({ entity: 'order', action: 'created', id: 1 }, { subject: 'body.nowhere' })
  assert.deepEqual([event.type, event.subject], ['com.shop.order.created', null])
})

test('[OPS-5] a mapping that does not parse is refused, and the error names the part', () => {
  for (const part of ['entity', 'action', 'id', 'subject', 'data'] as const) {
    assert.throws(
      () => completeMapping({ [part]: 'body.' }),
      (error) => error instanceof Failure && error.details['field'] === `mapping.${part}`,
    )
  }
  // A name that an expression cannot see is refused as well.
  assert.throws(() => completeMapping({ entity: 'id' }), Failure)
  assert.deepEqual(completeMapping({ id: 'body.key' }), { ...DEFAULT_MAPPING, id: 'body.key' })
})

test('[HOOK-9] any JSON becomes an event, and the same event when it comes again', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom({}, { entity: 'body.entity', action: '"x"' }, { data: 'body.data' }),
      (body, mapping) => {
        const text = JSON.stringify(body)
        const [first, second] = [map(text, mapping), map(text, mapping)]
        assert.deepEqual(first, second)
        assert.match(first.type, /^com\.shop\.[a-z0-9_-]+\.[a-z0-9_-]+$/)
      },
    ),
  )
})

test('[ING-6] an event whose data expression makes it much longer than the body is unmapped', () => {
  const body = { entity: 'order', action: 'created', id: 1, text: 'x'.repeat(40_000) }
  const list = (count: number) => `[${Array.from({ length: count }, () => 'body').join(', ')}]`
  assert.equal(map(body, { data: list(2) }).type, 'com.shop.order.created')
  const long = map(body, { data: list(4) })
  assert.deepEqual([long.type, long.envelope['data']], ['com.shop.unmapped.received', body])
})

test('[ING-6] an id or a subject with half a surrogate pair is ignored, and no event is lost', () => {
  const event = map('{"entity":"order","action":"created","id":"\\ud800"}')
  assert.match(event.id, /^shop:[0-9a-f]{64}$/)
  assert.equal(event.subject, null)
  const named = map('{"entity":"order","action":"created","id":"1","name":"\\ud800"}', { subject: 'body.name' })
  assert.deepEqual([named.id, named.subject], ['shop:1', null])
})

test('[SAFE-17] a part of a long body is mapped in steps, whichever part of the event it becomes', () => {
  const items = `[${Array(200_000).fill('{}').join(',')},9007199254740993]`
  for (const [text, given] of [
    [`{"entity":"a","action":"b","id":"1","items":${items}}`, { data: 'body.items' }],
    [`{"entity":"a","action":"b","id":"1","items":${items}}`, { data: '{"of": [body]}' }],
    [`{"entity":${items},"action":"b","id":"1"}`, {}],
  ] as const) {
    const arrival = { body: exactly(text), raw: Buffer.from(text), headers: {}, now: NOW }
    const steps = compileMapping('shop', completeMapping(given)).map(arrival)
    let count = 0
    let step = steps.next()
    for (; !step.done; step = steps.next()) count++
    assert.ok(count > 90, String(count))
    assert.ok(step.value.text.includes(items))
    assert.equal(step.value.text.length, map(text, given).text.length)
  }
})

/** Counts the characters of all texts that are lower-cased or taken apart while a function runs. */
function charactersRead(run: () => void): number {
  const texts = String.prototype as unknown as Record<string | symbol, (this: string) => unknown>
  const names = ['toLowerCase', Symbol.iterator] as const
  const originals = names.map((name) => texts[name]!)
  let count = 0
  names.forEach((name, i) => {
    texts[name] = function (this: string) {
      count += this.length
      return originals[i]!.call(this)
    }
  })
  try {
    run()
  } finally {
    names.forEach((name, i) => (texts[name] = originals[i]!))
  }
  return count
}

test('[ING-32] a part that is too long for a type, an id or a subject is not read', () => {
  const long = '.'.repeat(300_000)
  const body = { entity: long, action: long, id: 'o-1', s: long }
  const mapper = compileMapping('shop', completeMapping())
  const idMapper = compileMapping('shop', completeMapping({ id: 'body.s', entity: '"order"', action: '"created"' }))
  const subjectMapper = compileMapping('shop', completeMapping({ subject: 'body.s', entity: '"a"', action: '"b"' }))
  const arrival = { body, raw: Buffer.from(JSON.stringify(body)), headers: {}, now: NOW }
  const events: ReturnType<typeof map>[] = []
  const count = charactersRead(() => {
    for (const one of [mapper, idMapper, subjectMapper]) events.push(atOnce(one.map(arrival)))
  })
  assert.ok(count < 10_000, `${count} characters`)
  assert.deepEqual(
    events.map(({ type, subject }) => [type, subject]),
    [
      ['com.shop.unmapped.received', null],
      ['com.shop.order.created', null],
      ['com.shop.a.b', null],
    ],
  )
})

test('[HOOK-7] the longest type has 255 characters, whatever characters its parts have', () => {
  const parts = 255 - 'com.shop..a'.length
  for (const [entity, type] of [
    ['x'.repeat(parts), `com.shop.${'x'.repeat(parts)}.a`],
    ['😀'.repeat(parts), `com.shop.${'_'.repeat(parts)}.a`],
    ['x'.repeat(parts + 1), 'com.shop.unmapped.received'],
    ['😀'.repeat(parts + 1), 'com.shop.unmapped.received'],
  ] as const) {
    assert.equal(map({ entity, action: 'a' }).type, type)
  }
})

test('[HOOK-8] the longest id and subject are kept, and longer ones are not used, whatever characters they have', () => {
  for (const character of ['x', '😀']) {
    const id = character.repeat(MAX_EVENT_ID - 'shop:'.length)
    assert.equal(map({ entity: 'e', action: 'a', id }).id, `shop:${id}`)
    const longer = { entity: 'e', action: 'a', id: id + character }
    assert.equal(map(longer).id, `shop:${hash(JSON.stringify(longer))}`)
    const subject = character.repeat(4_096)
    for (const [given, kept] of [
      [subject, subject],
      [subject + character, undefined],
    ])
      assert.equal(map({ entity: 'e', action: 'a', id: 1, given }, { subject: 'body.given' }).envelope['subject'], kept)
  }
})
