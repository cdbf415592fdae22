// Runs the team against a real service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, startService } from '../start-service.ts'

test('[DOC-11] three agents share tickets, a channel and what they learn', async (t) => {
  const { supportTriage } = await import('./support-triage.ts')
  const { billed, escalated, shared } = await supportTriage(await startService(t), ADMIN_KEY)
  assert.deepEqual(billed, ['I was charged twice for one order', 'Where is my invoice?'])
  assert.deepEqual(escalated, ['I was charged twice for one order'])
  assert.equal(shared, 'Double charges are refunded at once')
})
