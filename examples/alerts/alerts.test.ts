// Runs the example against a real service in a process of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, startService } from '../start-service.ts'

test('[DOC-12] an alarm arrives with the lesson of the one before', async (t) => {
  const { alerts } = await import('./alerts.ts')
  const { handled, receipts, found } = await alerts(await startService(t), ADMIN_KEY)

  assert.deepEqual(
    handled.map(({ celsius }) => celsius),
    [93, 97],
    'the filter let the hot ones through',
  )
  assert.deepEqual(handled[0]!.remembered, [], 'nothing was known at first')
  assert.deepEqual(handled[1]!.remembered, ['Pump 7 overheated at 93 degrees'])
  assert.deepEqual(
    receipts.map(({ deliveries }) => deliveries.map(({ state }) => state)),
    [['acknowledged'], [], ['acknowledged']],
  )
  assert.deepEqual([...found].sort(), ['Pump 7 overheated at 93 degrees', 'Pump 7 overheated at 97 degrees'])
})
