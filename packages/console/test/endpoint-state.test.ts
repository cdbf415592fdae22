// What the badge of a push endpoint says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PushState } from '@sensorium/client'
import { endpointState } from '../src/pages/agents/endpoint-state.ts'

const NEW: PushState = {
  state: 'closed',
  consecutive_failures: 0,
  last_status: null,
  last_error: null,
  last_success_at: null,
  latency_ms: null,
}
const ANSWERED: PushState = { ...NEW, last_status: 200, last_success_at: '2030-01-01T00:00:00.000Z', latency_ms: 4 }

test('[UI-54] an endpoint is called answering only if its latest push succeeded', () => {
  assert.deepEqual(endpointState(ANSWERED), { tone: 'good', says: 'answering' })
  assert.deepEqual(endpointState({ ...ANSWERED, consecutive_failures: 1 }), { tone: 'warn', says: 'failing' })
  assert.deepEqual(endpointState({ ...NEW, consecutive_failures: 3 }), { tone: 'warn', says: 'failing' })
  assert.deepEqual(endpointState(NEW), { tone: undefined, says: 'not known yet' })
  assert.equal(endpointState({ ...ANSWERED, state: 'half_open', consecutive_failures: 5 }).says, 'being tried again')
  assert.equal(endpointState({ ...ANSWERED, state: 'open', consecutive_failures: 5 }).says, 'left alone for a while')
})
