// The counts of a live view: what is current, and where nothing was counted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveStats } from '@sensorium/client'
import { addStats, latestOf, pointsOf, rateOf } from '../src/api/live-stats.ts'

const START = Date.parse('2030-01-31T12:00:00.000Z')
const at = (second: number, events = 0): LiveStats =>
  ({ at: new Date(START + second * 1000).toISOString(), seconds: 1, events }) as LiveStats
const seconds = (from: number, count: number, events = 0): LiveStats[] =>
  Array.from({ length: count }, (_, index) => at(from + index, events))

test('[UI-71] a rate is that of the last ten seconds, whatever was counted before a gap', () => {
  assert.equal(rateOf(latestOf([]), 'events'), null)
  assert.equal(rateOf(latestOf(seconds(0, 20, 5)), 'events'), 5)
  assert.equal(rateOf(latestOf([...seconds(0, 20, 5), at(45)]), 'events'), 0)
  assert.equal(rateOf(latestOf([...seconds(0, 10, 5), ...seconds(10, 5)]), 'events'), 2.5)
})

test('[UI-71] a chart has an empty point in each gap, and none between seconds that follow each other', () => {
  const points = pointsOf([...seconds(0, 2), { ...at(4), seconds: 3 }, at(30), at(31), at(34)])
  assert.deepEqual(
    points.map((point) => [point.at - START / 1000, point.counts !== null]),
    [
      [0, true],
      [1, true],
      [4, true],
      [29, false],
      [30, true],
      [31, true],
      [34, true],
    ],
  )
})

test('[UI-71] counts that are more than five minutes older than the newest are dropped', () => {
  assert.equal(seconds(0, 400).reduce<LiveStats[]>(addStats, []).length, 300)
  assert.equal(addStats(seconds(0, 5), at(3_600)).length, 1)
})
