// The key of an imported line without an id. Stores hold keys that were made at once, so steps must not change them.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { atOnce } from '../../../src/kernel/step-turns.ts'
import { hashSteps } from '../../../src/memory/transfer/origin.ts'

const hashed = (values: unknown): string => createHash('sha256').update(JSON.stringify(values)).digest('base64url')

test('[KEP-9] a line is recognised by the hash of what it says, whatever its length and characters', () => {
  const unit = fc.constantFrom('a', '"', '\\', '\u0007', 'é', '\ud83d', '\ude00', '😀')
  const text = fc
    .tuple(fc.array(unit, { maxLength: 8 }), fc.integer({ min: 0, max: 5 }), unit)
    .map(([start, times, filler]) => start.join('') + filler.repeat(times * 8_191))
  const values = fc.array(fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)))
  fc.assert(
    fc.property(values, (said) => {
      assert.equal(atOnce(hashSteps(said)), hashed(said))
    }),
    { numRuns: 200 },
  )
})

test('[KEP-8] a long line is hashed in steps of at most 32 KiB', () => {
  const steps = hashSteps(['title', '\\"'.repeat(500_000)])
  let count = 1
  while (!steps.next().done) count++
  assert.ok(count >= 1_000_000 / 32_768, `${count} steps`)
})
