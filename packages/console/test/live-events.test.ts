// The events of a live view are limited, their count is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventSummary } from '@sensorium/client'
import { addEvents, MOST_EVENTS, type LiveEvents } from '../src/api/live-events.ts'
import { countOf } from '../src/pages/events/count-of.ts'

const NONE: LiveEvents = { events: [], arrived: 0 }
const events = (from: number, count: number): EventSummary[] =>
  Array.from({ length: count }, (_, index) => ({ id: `e-${from + index}` }) as EventSummary)

test('[UI-19] the newest events are kept, newest first, and all are counted', () => {
  const first = addEvents(addEvents(NONE, events(0, 2)), events(2, 1))
  assert.deepEqual(
    first.events.map(({ id }) => id),
    ['e-2', 'e-1', 'e-0'],
  )
  assert.equal(countOf(first), '3 events')
  const full = addEvents(first, events(3, MOST_EVENTS - 3))
  assert.equal(full.events.length, MOST_EVENTS)
  const more = addEvents(full, events(MOST_EVENTS, 5))
  assert.equal(more.arrived - full.arrived, 5, 'a list that is full goes on counting')
  assert.equal(more.events.length, MOST_EVENTS)
  assert.equal(more.events[0]!.id, `e-${MOST_EVENTS + 4}`)
  assert.equal(countOf(more), `the newest ${(2_000).toLocaleString()} of ${(2_005).toLocaleString()} events`)
})

test('[UI-19] a second without events changes nothing, so that nothing is rendered again for it', () => {
  const some = addEvents(NONE, events(0, 1))
  assert.equal(addEvents(some, []).events, some.events)
})
