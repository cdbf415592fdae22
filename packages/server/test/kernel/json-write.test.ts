// JSON that is written in pieces.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { invalidEvent } from '../../src/kernel/failure.ts'
import { rawJson, toText } from '../../src/kernel/json.ts'
import { jsonPieces, textSteps } from '../../src/kernel/json-write.ts'
import { atOnce } from '../../src/kernel/step-turns.ts'

const written = (value: unknown): string => atOnce(textSteps(value))

test('[SAFE-17] what is written in steps is what JSON.stringify writes', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(written(value), JSON.stringify(value))))
  const odd: unknown[] = [
    { a: undefined, b: [undefined, () => 1], c: { d: undefined } },
    [new Date(0), rawJson('1.0'), '\ud800', -0, NaN, new Map(), Object.create(null)],
    JSON.parse('{"__proto__":{"a":1},"10":[],"2":{}}'),
  ]
  for (const value of odd) assert.equal(written(value), JSON.stringify(value))
  assert.equal(written(undefined), 'null')
})

test('[SAFE-17] whole numbers of any length are written as they are, in steps and at once', () => {
  const value = { big: 12345678901234567890n, list: [1, 2n, { deep: -9007199254740993n }] }
  const text = '{"big":12345678901234567890,"list":[1,2,{"deep":-9007199254740993}]}'
  assert.equal(written(value), text)
  assert.equal(toText(value), text)
})

test('[SAFE-17] a long text is written in slices, none of which ends in the middle of a character', () => {
  for (const before of ['', 'x']) {
    const text = `${before}${'😀"\n\u0001'.repeat(10_000)}\ud800`
    for (const value of [text, [text], { a: 1, b: text, c: [text, 2] }]) {
      const pieces = [...jsonPieces(value)]
      assert.ok(pieces.every((piece) => piece.length < 30_000 && piece.isWellFormed()))
      assert.equal(pieces.join(''), JSON.stringify(value))
      assert.equal(written(value), JSON.stringify(value))
    }
  }
})

test('[SAFE-17] a step writes a few thousand characters, and of a refused value only the beginning is written', () => {
  const value = Array.from({ length: 100_000 }, () => ({}))
  const pieces = [...jsonPieces(value)]
  assert.ok(pieces.length > 70 && pieces.every(({ length }) => length < 5_000), String(pieces.length))
  let read = 0
  const counted = new Proxy(value, { get: (target, name) => (read++, Reflect.get(target, name) as unknown) })
  assert.equal(invalidEvent('body', counted, 'an object').details['value'], JSON.stringify(value).slice(0, 200))
  assert.ok(read < 5_000, String(read))
})
