// The range of time that a chart shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timeRange } from '../src/components/time-range.ts'

test('[UI-22] an empty chart shows the minute that ends now, and one of a few seconds a whole minute', () => {
  assert.deepEqual(timeRange(0, Number.NaN, Number.NaN, 1_000), [940, 1_000])
  assert.deepEqual(timeRange(1, 500, 87_000), [440, 500])
  assert.deepEqual(timeRange(5, 500, 504), [444, 504])
  assert.deepEqual(timeRange(600, 500, 1_100), [500, 1_100])
})
