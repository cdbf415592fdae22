// The text that memories for an event are searched with.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { queryOf } from '../../src/enrichment/query.ts'

describe('the query of an event', () => {
  test('[ENR-1] is made of its subject, the end of its type and its data, and is bounded', () => {
    const query = queryOf({
      type: 'com.acme.order.created',
      subject: 'customer/anna-b',
      data: { note: 'late parcel', lines: [{ sku: 'X1' }] },
    })
    for (const word of ['customer', 'anna', 'order', 'created', 'late parcel', 'X1'])
      assert.ok(query.includes(word), word)
    assert.ok(!query.includes('acme'))
    assert.ok(queryOf({ type: 't', data: 'x'.repeat(100_000) }).length < 1_100)
    assert.equal(queryOf({ type: 'x', data: null }), 'x')
    let read = 0
    const data = new Proxy(Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`k${i}`, 1])), {
      get: (of, name) => (read++, Reflect.get(of, name)),
    })
    queryOf({ type: 'x', data })
    assert.ok(read <= 2_000, `${read} values of a wide object are read`)
  })

  test('[RCL-31] takes the meaningful words of its data, written texts first, without field names', () => {
    const query = queryOf({
      type: 'com.plant.pump_alarm.raised',
      subject: 'pump/7',
      data: {
        event_uuid: '0b1f6a2e-5f5d-4a63-9c2e-7a1d0a6c9b11',
        sha: 'da39a3ee5e6b4b0d3255bfef95601890afd80709',
        raised_at: '2030-01-31T12:00:00Z',
        link: 'https://plant.example/alarms/4711',
        epoch: 1_899_000_000,
        celsius: 93.5,
        pump: 7,
        sensor: 'thermocouple',
        acknowledged: false,
        message: 'Coolant is too hot',
        operators: [{ name: 'Anna' }],
      },
    })
    assert.equal(query, 'pump 7 pump alarm raised Coolant is too hot Anna thermocouple 7')
  })

  test('[RCL-31] takes whole numbers from 0 to 99,999: others are times, amounts, ids or measurements', () => {
    const data = { most: 99_999, more: 100_000, below: -1, measured: 1.5, none: 0 }
    assert.equal(queryOf({ type: 'a.b', data }), 'a b 99999 0')
  })

  test('[RCL-31] a large event costs bounded work, and a long word takes no room from others', () => {
    const data = {
      deep: Array.from({ length: 200_000 }, (_, i) => `word${i}`),
      blob: 'é'.repeat(5_000),
      text: 'at the end',
    }
    assert.ok(queryOf({ type: 't', data }).length <= 1_000)
    assert.match(queryOf({ type: 't', data: { message: `${'é'.repeat(5_000)} broken seal` } }), /é{60} broken seal$/)
    let nested: unknown = 'core'
    for (let i = 0; i < 60; i++) nested = { inner: nested }
    assert.equal(queryOf({ type: 't', data: nested }), 't core')
  })
})
