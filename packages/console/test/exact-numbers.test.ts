// Numbers of responses, with all their digits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replaceEqualDeep } from '@tanstack/query-core'
import { forFilters, parseResponse, wouldChange } from '../src/api/exact-numbers.ts'
import { tryFilter } from '../src/components/try-filter.ts'

const NUMBERS = ['12345678901234567890', '-0.12345678901234567890', '1e400', '1e-400', '1.50', '-0', '1E2']

test('[UI-20] [UI-51] the numbers of a response are shown and written back with all their digits', () => {
  const text = `{"a":[${NUMBERS}],"b":"1.50","__proto__":1.0,"c\\"":{"d":[7,0.1,null,true]}}`
  for (const tellsSource of [true, false]) {
    const response = parseResponse(text, tellsSource) as { a: unknown[] }
    assert.equal(JSON.stringify(response), text)
    assert.deepEqual(response.a.map(String), NUMBERS)
    assert.equal(Object.getPrototypeOf(response), Object.prototype)
    for (const plain of ['{"a":[1,"1.0"]}', '[]', '"1.0"', '0.1'])
      assert.deepEqual(parseResponse(plain, tellsSource), JSON.parse(plain))
    assert.throws(() => parseResponse('{"a": 1.0', tellsSource), SyntaxError)
  }
})

test('[UI-20] a string of millions of escapes beside such a number is no obstacle', () => {
  const text = `{"a":1.50,"b":${JSON.stringify('\n'.repeat(5_000_000))}}`
  assert.equal(String((parseResponse(text) as { a: unknown }).a), '1.50')
})

test('[UI-20] [UI-51] what the cache of responses makes of an old and a new one has the same digits', () => {
  const [old, text] = ['{"a":[1.0,2],"b":{"c":1.0}}', '{"a":[1.50,2],"b":{"c":{"d":1.0}}}']
  assert.equal(JSON.stringify(replaceEqualDeep(parseResponse(old), parseResponse(text))), text)
})

test('[UI-6] a filter is tried against long whole numbers as they were sent', async () => {
  const event = forFilters(parseResponse('{"data":{"id":9007199254740993,"x":1.50,"list":[-0]}}')) as object
  for (const filter of ['data.id == 9007199254740993', 'data.id != 9007199254740992', 'data.x == 1.5'])
    assert.deepEqual((await tryFilter(filter)).test({ ...event }).matches, true, filter)
})

test('[UI-51] a browser that cannot write such numbers is told not to send them back', () => {
  assert.equal(wouldChange(parseResponse('{"a":[{"b":1.50}]}'), false), true)
  assert.equal(wouldChange(parseResponse('{"a":[{"b":1.5}]}'), false), false)
  assert.equal(wouldChange(parseResponse('{"a":1.50}'), true), false)
})
