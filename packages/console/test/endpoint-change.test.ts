// The form of a push endpoint, and how its waits are shown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exactSpan } from '../src/components/span.ts'
import { changeOf } from '../src/pages/agents/endpoint-change.ts'

const OLD = { address: 'https://old.example.com/in', waits: '5, 60' }

test('[UI-12] of a push endpoint only what was edited is sent', () => {
  assert.deepEqual(changeOf(OLD, OLD), {})
  assert.deepEqual(changeOf(OLD, { ...OLD, waits: '5,50' }), { retry_schedule_seconds: [5, 50] })
  assert.deepEqual(changeOf(OLD, { ...OLD, waits: ' ' }), { retry_schedule_seconds: null })
  assert.deepEqual(changeOf(OLD, { ...OLD, address: '' }), { delivery_endpoint: null })
})

test('[UI-12] the waits after failed pushes are shown to the second', () => {
  assert.deepEqual([0, 5, 60, 90, 119, 5400, 86_399, 90_061].map(exactSpan), [
    '0 s',
    '5 s',
    '1 min',
    '1 min 30 s',
    '1 min 59 s',
    '1 h 30 min',
    '23 h 59 min 59 s',
    '1 d 1 h 1 min 1 s',
  ])
})
