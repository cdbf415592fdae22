// The actions that the audit page offers as a filter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations, type Operation } from '@sensorium/contract'
import { AUDITED, titleOfAction } from '../src/pages/audit/actions.ts'

test('[UI-34] every audited operation can be chosen as a filter, in words', () => {
  const audited = (Object.values(operations) as Operation[]).filter(({ audit }) => audit !== undefined)
  assert.deepEqual(
    [...AUDITED],
    audited.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1)),
  )
  assert.equal(titleOfAction('updateTenantSettings'), 'Update tenant settings')
})
