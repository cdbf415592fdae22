import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventSummary } from '@sensorium/client'
import { withEarlier } from '../src/pages/events/with-earlier.ts'

const at = (second: number): EventSummary =>
  ({ id: `e${second}`, received_at: new Date(second * 1_000).toISOString() }) as EventSummary
const ids = (events: readonly EventSummary[]): string => events.map(({ id }) => id).join(' ')

test('[UI-19] events of before follow those of a live list, and what was accepted unwatched stands between', () => {
  assert.equal(ids(withEarlier([], [at(2), at(1)])), 'e2 e1')
  assert.equal(ids(withEarlier([at(3)], [at(3), at(2), at(1)])), 'e3 e2 e1')
  // Nobody watched from 2 on, until 9 arrived.
  assert.equal(ids(withEarlier([at(9), at(2), at(1)], [at(8), at(7), at(2)])), 'e9 e8 e7 e2 e1')
  assert.equal(ids(withEarlier([at(1)], [at(9), at(8)])), 'e9 e8 e1')
})

test('[UI-19] a list that is held gets nothing newer', () => {
  assert.equal(ids(withEarlier([at(3), at(2)], [at(5), at(4), at(3), at(1)], at(3).received_at)), 'e3 e2 e1')
  const live = [at(3)]
  assert.equal(withEarlier(live, [at(5)], at(3).received_at), live)
})
