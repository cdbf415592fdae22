// Numbers with their nouns.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counted } from '../src/components/counted.ts'
import { inTheForm } from '../src/pages/operator/setting-texts.ts'

test('[UI-24] the length of a list is one thing or several', () => {
  assert.equal(counted(0, 'agent'), '0 agents')
  assert.equal(counted(1, 'agent'), '1 agent')
  assert.equal(counted(2_000, 'agent'), `${(2_000).toLocaleString()} agents`)
  assert.equal(counted(1, 'entry', 'entries'), '1 entry')
  assert.equal(counted(2, 'entry', 'entries'), '2 entries')
})

test('[UI-32] the problem of a setting speaks of the form, where the default is an empty field', () => {
  assert.equal(
    inTheForm('Expected an integer from 1 to 9, or null for the default.'),
    'Expected an integer from 1 to 9, or nothing for the default.',
  )
  assert.equal(inTheForm(undefined), undefined)
})
