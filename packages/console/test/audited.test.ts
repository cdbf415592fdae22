// The actions that the audit page offers as a filter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations, type Operation } from '@sensorium/contract'
import { AUDITED, titleOfAction } from '../src/pages/audit/actions.ts'
import { pageOf } from '../src/pages/audit/page-of.ts'

test('[UI-34] every audited operation can be chosen as a filter, in words', () => {
  const audited = (Object.values(operations) as Operation[]).filter(({ audit }) => audit !== undefined)
  assert.deepEqual(
    [...AUDITED],
    audited.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1)),
  )
  assert.equal(titleOfAction('updateTenantSettings'), 'Update tenant settings')
})

test('[UI-34] an entry leads to the page of an agent, a channel or a memory, and a slug that looks like one to none', () => {
  assert.equal(pageOf('agt_01'), '/agents/agt_01')
  assert.equal(pageOf('chn_01'), '/channels/chn_01')
  assert.equal(pageOf('mem_01'), '/memory/mem_01')
  for (const slug of ['memory-team', 'agt', 'chn-1', 'mem-01', 'default']) assert.equal(pageOf(slug), null, slug)
})
