import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileFilter, describeResult } from '../../src/routing/filter.ts'

const event = {
  specversion: '1.0',
  id: 'e-1',
  type: 'com.shop.order.created',
  source: '/shop',
  time: '2026-03-01T12:30:00Z',
  data: {
    amount: 150,
    price: 99.5,
    region: 'eu',
    type: 'order',
    map: 'street',
    paid: true,
    nothing: null,
    tags: ['new', 'gift'],
    items: [
      { sku: 'A-1', qty: 2 },
      { sku: 'B-7', qty: 12 },
    ],
    customer: { name: 'Ada', tier: 'gold', 'home-page': 'x' },
    values: [1, 2, 3],
    namespace: 'prod',
    empty: {},
  },
}

const matching = [
  'true',
  'amount > 100',
  'data.amount > 100',
  'event.data.amount > 100',
  'data.amount > 100 && data.region == "eu"',
  'data.amount > 100.5 && price < 100',
  'amount == 150.0',
  'event.type == "com.shop.order.created"',
  'event["type"].startsWith("com.")',
  'type == "order"',
  'type(amount) == int && type(price) == double && type(type) == string',
  'type(amount) in [int, double]',
  'type(timestamp(event.time)) == google.protobuf.Timestamp',
  'type(type(1)) == type',
  'map == "street"',
  'namespace == "prod"',
  'paid',
  '!paid || paid',
  'nothing == null',
  'has(nothing)',
  'has(data.amount) && !has(data.missing)',
  'has(amount) && !has(missing)',
  'has(customer.name) && !has(customer.toString)',
  '"gift" in tags',
  '"amount" in data',
  '!("missing" in data)',
  'customer.`home-page` == "x"',
  'customer["home-page"] == "x"',
  'values[0] == 1 && data.values[2] == 3',
  'size(values) == 3 && values.size() == 3',
  'items.exists(i, i.qty > 10)',
  'items.all(i, i.qty > 0)',
  'items.exists_one(i, i.sku == "A-1")',
  'items.map(i, i.qty) == [2, 12]',
  'items.filter(i, i.qty > 10).size() == 1',
  'items.filter(amount, amount.qty > 10).size() == 1',
  'items.exists(amount, .amount == 150)',
  'customer.all(k, k.size() > 0)',
  'missing || true',
  'true || missing',
  '!(missing && false)',
  '!(false && missing)',
  '(missing > 3) || amount > 100',
  '5 || true',
  'amount > 200 ? false : region == "eu"',
  'timestamp(event.time) > timestamp("2026-01-01T00:00:00Z")',
  'timestamp(event.time).getHours() == 12',
  'empty == {} && size(empty) == 0',
]

for (const source of matching) {
  test(`[EVT-FILTER] matches: ${source}`, () => {
    const filter = compileFilter(source)
    assert.deepEqual(filter.evaluate(event), { result: 'match' })
    assert.equal(filter.test(event), true)
  })
}

const notMatching: readonly [source: string, words: string][] = [
  ['false', 'the filter is false'],
  ['amount > 1000', 'the filter is false'],
  ['missing > 1', 'the filter gives an error: no such field: missing'],
  ['data.missing > 1', 'the filter gives an error: no such field: missing'],
  ['data.missing != 1', 'the filter gives an error: no such field: missing'],
  ['!missing', 'the filter gives an error: no such field: missing'],
  ['missing', 'the filter gives an error: no such field: missing'],
  ['customer.age > 3', 'the filter gives an error: no such field: age'],
  ['customer["age"] > 3', 'the filter gives an error: no such key: "age"'],
  ['customer[region] > 3', 'the filter gives an error: no such key: "eu"'],
  ['values[7] == 1', 'the filter gives an error: index 7 is out of range in a list of 3'],
  ['values[-1] == 1', 'the filter gives an error: index -1 is out of range in a list of 3'],
  ['region.name == "x"', 'the filter gives an error: no such field: name (string has no fields)'],
  ['region > 5', "the filter gives an error: '>' cannot be applied to string and int"],
  ['amount + region == "x"', "the filter gives an error: '+' cannot be applied to int and string"],
  ['amount / 0 == 1', 'the filter gives an error: division by zero'],
  ['amount && true', "the filter gives an error: '&&' cannot be applied to int"],
  ['missing && missing2', 'the filter gives an error: no such field: missing'],
  ['missing || false', 'the filter gives an error: no such field: missing'],
  ['amount ? true : false', "the filter gives an error: '?:' cannot be applied to int"],
  ['amount', 'the filter is not a boolean but 150'],
  ['data', 'the filter is not a boolean but a map'],
  ['values', 'the filter is not a boolean but a list'],
  ['"true"', 'the filter is not a boolean but "true"'],
  ['nothing', 'the filter is not a boolean but null'],
  ['1 == "1"', 'the filter is false'],
  ['nothing == 0', 'the filter is false'],
  ['nothing < 1', "the filter gives an error: '<' cannot be applied to null and int"],
  ['nothing.x == 1', 'the filter gives an error: no such field: x (null has no fields)'],
  ['constructor == 1', 'the filter gives an error: no such field: constructor'],
  ['data.__proto__ == 1', 'the filter gives an error: no such field: __proto__'],
  ['toString != 1', 'the filter gives an error: no such field: toString'],
  ['data["hasOwnProperty"] != 1', 'the filter gives an error: no such key: "hasOwnProperty"'],
  ['"constructor" in data', 'the filter is false'],
  ['has(data.constructor)', 'the filter is false'],
  ['values.length == 3', 'the filter gives an error: no such field: length (list has no fields)'],
  ['region.length == 2', 'the filter gives an error: no such field: length (string has no fields)'],
  ['timestamp(event.time).seconds > 0', 'the filter gives an error: no such field: seconds (timestamp has no fields)'],
  ['has(region.x)', 'the filter gives an error: has() needs a map, not string'],
  ['int != 1', 'the filter gives an error: no such field: int'],
  ['items.all(i, i.price > 0)', 'the filter gives an error: no such field: price'],
  ['items.map(i, i.price) == []', 'the filter gives an error: no such field: price'],
  ['region.all(c, c == "x")', 'the filter gives an error: all() needs a list or a map, not string'],
  ['items.filter(i, i.qty) == []', 'the filter gives an error: filter() needs a condition, not int'],
  ['region.matches(5)', 'the filter gives an error: matches() cannot be applied to string and int'],
  [
    'timestamp("yesterday") < timestamp(event.time)',
    'the filter gives an error: "yesterday" is not an RFC 3339 timestamp',
  ],
]

for (const [source, words] of notMatching) {
  test(`[EVT-FILTER] does not match: ${source}`, () => {
    const filter = compileFilter(source)
    assert.equal(describeResult(filter.evaluate(event)), words)
    assert.equal(filter.test(event), false)
  })
}

test('[EVT-FILTER] an event without data, or with data that is no object, has no fields', () => {
  const amount = compileFilter('amount > 100')
  const has = compileFilter('has(data.amount)')
  const isNull = compileFilter('data == null')
  const text = compileFilter('data == "plain"')
  const envelope = { id: 'x', type: 't', source: '/s' }
  assert.deepEqual(amount.evaluate(envelope), { result: 'error', message: 'no such field: amount' })
  assert.deepEqual(has.evaluate(envelope), { result: 'error', message: 'no such field: data' })
  assert.deepEqual(isNull.evaluate(envelope), { result: 'error', message: 'no such field: data' })
  assert.equal(isNull.test({ ...envelope, data: null }), true)
  assert.equal(text.test({ ...envelope, data: 'plain' }), true)
  for (const data of [null, 'plain', 7, true, [1, 2], [{ amount: 500 }]]) {
    assert.equal(amount.test({ ...envelope, data }), false)
  }
})

test('[EVT-FILTER] fields named like inherited ones are found only if they were sent', () => {
  const data: unknown = JSON.parse('{"__proto__": 1, "constructor": 2, "length": 3, "map": 4, "value": 5, "nanos": 6}')
  const filter = compileFilter(
    'data.__proto__ == 1 && constructor == 2 && length == 3 && map == 4 && value == 5 && nanos == 6 && ' +
      'data["__proto__"] == 1 && has(data.__proto__) && "constructor" in data && !has(data.toString)',
  )
  assert.deepEqual(filter.evaluate({ data }), { result: 'match' })
})

test('[EVT-FILTER] one filter serves many events, and keeps no state between them', () => {
  const filter = compileFilter('items.exists(i, i.qty > limit)')
  assert.equal(filter.test({ data: { items: [{ qty: 3 }], limit: 2 } }), true)
  assert.equal(filter.test({ data: { items: [{ qty: 3 }], limit: 5 } }), false)
  assert.equal(filter.test({ data: { items: [{ qty: 3 }] } }), false)
  assert.deepEqual(filter.evaluate({ data: {} }), { result: 'error', message: 'no such field: items' })
  assert.equal(filter.test({ data: { items: [{ qty: 3 }], limit: 2 } }), true)
})

test('[EVT-FILTER] the two forms of a name are equivalent', () => {
  for (const data of [{ amount: 5 }, { amount: 500 }, { amount: 'x' }, {}, null, []]) {
    const bare = compileFilter('amount > 100').evaluate({ data })
    const full = compileFilter('data.amount > 100').evaluate({ data })
    assert.deepEqual(bare, full)
  }
})
