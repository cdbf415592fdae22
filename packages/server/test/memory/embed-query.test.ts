// How much of a query's text is read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { asQuery } from '../../src/memory/embed-query.ts'
import { anyCharacter } from '../support/any-character.ts'

test('[RCL-56] a query is its first 4,096 characters, with every run of white space counted once', () => {
  const part = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc.tuple(fc.constantFrom(' ', '\n', '\t\r\n', '\u2003'), fc.integer({ max: 10_000, min: 1 })),
    fc.tuple(fc.constantFrom('word ', 'x', '😀', 'é\n'), fc.integer({ max: 6_000, min: 1 })),
  )
  const text = fc
    .array(part, { maxLength: 6 })
    .map((parts) => parts.map((one) => (typeof one === 'string' ? one : one[0].repeat(one[1]))).join(''))
  fc.assert(
    fc.property(text, (typed) => {
      assert.equal(asQuery(typed), typed.replaceAll(/\s+/g, ' ').trim().slice(0, 4_096).toWellFormed())
    }),
    { numRuns: 300 },
  )
})
