// Which windows of text go through the model together: short ones in company, long ones alone, and little of it for nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { batchSize } from '../../src/memory/embed/batch.ts'

const lengths = fc.array(fc.integer({ min: 3, max: 256 }), { minLength: 1, maxLength: 100 }).map((list) => list.toSorted((a, b) => a - b))

test('[EMB-1] a batch takes at least one window, and computes little more than what is in it', () => {
  fc.assert(
    fc.property(lengths, fc.constantFrom(1, 0.25), (sorted, share) => {
      const size = batchSize(sorted, share)
      assert.ok(size >= 1 && size <= Math.max(1, 32 * share) && size <= sorted.length)
      if (size === 1) return
      const computed = size * sorted[size - 1]!
      const wanted = sorted.slice(0, size).reduce((sum, length) => sum + length, 0)
      assert.ok(computed <= wanted * 1.15 && computed <= 768 * share && sorted[size - 1]! <= 128)
    }),
  )
})

test('[EMB-1] the rest of a long text does not go with a full window of another, and alike ones go together', () => {
  assert.equal(batchSize([40, 256, 256]), 1)
  assert.equal(batchSize([256, 256]), 1)
  assert.equal(batchSize(Array<number>(40).fill(20)), 32)
  assert.equal(batchSize(Array<number>(40).fill(20), 0.25), 8)
})
