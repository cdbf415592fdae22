import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { withExactNumbers } from '../../src/kernel/json.ts'

/** The expected result, computed the slow way. */
function byReviver(text: string): unknown {
  return (JSON.parse as (text: string, reviver: unknown) => unknown)(
    text,
    (_key: string, read: unknown, { source }: { source?: string }) => {
      if (typeof read !== 'number' || source === undefined || Number.isSafeInteger(read) || !/^-?\d+$/.test(source))
        return read
      const whole = BigInt(source)
      return BigInt.asIntN(64, whole) === whole ? whole : read
    },
  )
}

const number = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom('9007199254740993', '-9223372036854775808', '9223372036854775808', '1234567890123456789e2', '0'),
  fc.constantFrom('12345678901234567.5', '1e400', '-0', '9007199254740991', '1234567890123456789.0'),
)
const word = fc.string().map((text) => JSON.stringify(`${text}1234567890123456789"\\`))
const json: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    word,
    fc.constantFrom('null', 'true', '{}', '[]'),
    fc.array(tie('value'), { maxLength: 4 }).map((parts) => `[${parts.join(' , ')}]`),
    fc
      .array(fc.tuple(fc.oneof(word, fc.constant('"__proto__"')), tie('value')), { maxLength: 3 })
      .map((parts) => `{${parts.map(([key, value]) => `${key}:${value}`).join(',')}}`),
  ),
})).value

test('[RTE-13] whole numbers of 64 bits are exact at every position, and nothing else changes', () => {
  fc.assert(
    fc.property(json, (text) => {
      assert.deepEqual(withExactNumbers(text, JSON.parse(text)), byReviver(text))
    }),
    { numRuns: 500 },
  )
  assert.deepEqual(withExactNumbers('[12345678901234567]', [1]), [12345678901234567n])
})
