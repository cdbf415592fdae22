// JSON that is only passed on: typed into a form of the console and sent, or received and printed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseExactly } from '../src/parse-exactly.ts'

const NUMBERS = ['12345678901234567890', '-0.12345678901234567890', '1e400', '1.0', '-0', '1E2', '9007199254740993']

test('[SDK-60] [UI-21] [UI-51] numbers are written with the digits that they had, and the others stay numbers', () => {
  const number = fc.constantFrom(...NUMBERS, '0', '-1', '0.5')
  const word = fc.string().map((text) => JSON.stringify(text))
  const texts = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, number, word, fc.constant('null'), tie('list'), tie('map')),
    list: fc.array(tie('value')).map((items) => `[${items}]`),
    // A name that is a whole number would move to the front.
    map: fc.array(tie('value')).map((items) => `{${items.map((item, n) => `"n${n}":${item}`)}}`),
  })).value as fc.Arbitrary<string>
  fc.assert(fc.property(texts, (text) => assert.equal(JSON.stringify(parseExactly(text)), text)))
  assert.deepEqual(Object.values(parseExactly('{"a": 1, "b": 1.50, "c": 0.5}') as object).map(Number.isFinite), [
    true,
    false,
    true,
  ])
})

test('[UI-21] [UI-51] a browser that would change a number says which, and sends the others', () => {
  for (const number of NUMBERS)
    assert.throws(
      () => parseExactly(`{"a": 1, "b": [${number}]}`, null),
      ({ message }: Error) => message.includes(` ${number} `),
    )
  for (const text of ['{"a": 0.1}', '["12345678901234567890", "\\"1.0", 7]', '"\\\\"', '9007199254740991', '1e+21'])
    assert.deepEqual(parseExactly(text, null), JSON.parse(text))
})

test('[UI-21] [UI-51] a text that is not JSON is refused with the reason', () => {
  for (const text of ['{', '01', '1.', '"', '']) assert.throws(() => parseExactly(text), SyntaxError)
})
