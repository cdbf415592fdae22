// Sends GitHub's events to a real service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, OPERATOR_TOKEN, startService } from '../start-service.ts'

test('[DOC-13] events signed by GitHub reach every member of the channel, through its feeds alone', async (t) => {
  const { githubWebhook } = await import('./github-webhook.ts')
  const { accepted, redelivered, forged, heard } = await githubWebhook(await startService(t), ADMIN_KEY, OPERATOR_TOKEN)
  assert.deepEqual(accepted, [202, 202, 202, 202, 202])
  assert.equal(redelivered, 200, 'a redelivery is a duplicate')
  assert.equal(forged, 401)
  const expected = [
    { type: 'com.github.issues.opened', subject: 'acme/pumps/issues/5', title: 'Pump 7 runs hot' },
    { type: 'com.github.push.received', subject: 'acme/pumps', title: 'Cool it' },
  ]
  assert.deepEqual(heard, { triage: expected, release: expected })
})
