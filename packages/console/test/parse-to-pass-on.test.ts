// JSON that is typed into a form and sent on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseToPassOn } from '../src/api/parse-to-pass-on.ts'

const NUMBERS = ['12345678901234567890', '-0.12345678901234567890', '1e400', '1.0', '-0', '1E2', '9007199254740993']

test('[UI-21] [UI-51] numbers that are typed into a form are sent with the digits that were typed', () => {
  const number = fc.constantFrom(...NUMBERS, '0', '-1', '0.5')
  const word = fc.string().map((text) => JSON.stringify(text))
  const texts = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, number, word, fc.constant('null'), tie('list'), tie('map')),
    list: fc.array(tie('value')).map((items) => `[${items}]`),
    // A name that is a whole number would move to the front.
    map: fc.array(tie('value')).map((items) => `{${items.map((item, n) => `"n${n}":${item}`)}}`),
  })).value as fc.Arbitrary<string>
  fc.assert(fc.property(texts, (text) => assert.equal(JSON.stringify(parseToPassOn(text)), text)))
})

test('[UI-21] [UI-51] a browser that would change a number says which, and sends the others', () => {
  for (const number of NUMBERS)
    assert.throws(
      () => parseToPassOn(`{"a": 1, "b": [${number}]}`, null),
      ({ message }: Error) => message.includes(` ${number} `),
    )
  for (const text of ['{"a": 0.1}', '["12345678901234567890", "\\"1.0", 7]', '"\\\\"', '9007199254740991', '1e+21'])
    assert.deepEqual(parseToPassOn(text, null), JSON.parse(text))
})

test('[UI-21] [UI-51] a text that is not JSON is refused with the reason', () => {
  for (const text of ['{', '01', '1.', '"', '']) assert.throws(() => parseToPassOn(text), SyntaxError)
})
