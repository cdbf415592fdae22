// JSON that is typed into a form and sent on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseToPassOn } from '../src/api/parse-to-pass-on.ts'

const NUMBERS = ['12345678901234567890', '-0.12345678901234567890', '1e400', '1.0', '-0', '1E2', '9007199254740993']

test('[UI-21] [UI-51] numbers that are typed into a form are sent with the digits that were typed', () => {
  const text = `{"a":[${NUMBERS}],"b":"1.0"}`
  assert.equal(JSON.stringify(parseToPassOn(text)), text)
})

test('[UI-21] [UI-51] a browser that would change a number says which, and sends the others', () => {
  for (const number of NUMBERS)
    assert.throws(
      () => parseToPassOn(`{"a": 1, "b": [${number}]}`, false),
      ({ message }: Error) => message.includes(` ${number} `),
    )
  for (const text of ['{"a": 0.1}', '["12345678901234567890", "\\"1.0", 7]', '"\\\\"', '9007199254740991', '1e+21'])
    assert.deepEqual(parseToPassOn(text, false), JSON.parse(text))
})

test('[UI-21] [UI-51] a text that is not JSON is refused with the reason', () => {
  for (const text of ['{', '01', '1.', '"', '']) assert.throws(() => parseToPassOn(text), SyntaxError)
})
