import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { backoffMs } from '../../src/kernel/backoff.ts'

const policy = { firstMs: 1000, maxMs: 300_000 }

test('the wait doubles from the first to the maximum and stays there', () => {
  const full = (failures: number) => backoffMs(policy, failures, () => 1)
  assert.deepEqual([1, 2, 3, 4, 9, 10, 11, 1e9].map(full), [1000, 2000, 4000, 8000, 256_000, 300_000, 300_000, 300_000])
  assert.equal(full(0), 1000)
})

test('jitter spreads the wait over its upper half and never beyond', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
      const full = backoffMs(policy, failures, () => 1)
      const wait = backoffMs(policy, failures, () => chance)
      assert.ok(wait >= Math.floor(full / 2) && wait <= full)
    }),
  )
})

test('without a given chance the wait is random', () => {
  assert.ok(new Set(Array.from({ length: 50 }, () => backoffMs(policy, 5))).size > 1)
})
