import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relative } from '../src/components/span.ts'

const NOW = Date.UTC(2030, 0, 1)
const DAY = 86_400_000

test('[UI-73] a moment is as far away as somebody can picture, and a date beyond that', () => {
  assert.equal(relative(NOW - 1_000, NOW), 'just now')
  assert.equal(relative(NOW - 5 * 3_600_000, NOW), '5 h ago')
  assert.equal(relative(NOW + 30 * DAY, NOW), 'in 30 d')
  for (const [seconds, told] of [
    [3, '3 s ago'],
    [59, '59 s ago'],
    [60, '1 min ago'],
    [3_599, '59 min ago'],
    [3_600, '1 h ago'],
    [86_399, '23 h ago'],
    [86_400, '1 d ago'],
  ] as const)
    assert.equal(relative(NOW - seconds * 1_000, NOW), told)
  for (const year of [1990, 9999]) {
    const at = Date.UTC(year, 5, 15)
    assert.equal(relative(at, NOW), new Date(at).toLocaleDateString())
  }
})
