// Settings of a tenant, converted between the form and the service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TenantSettings } from '@sensorium/client'
import { changesOf, SETTING_NAMES, textsOf } from '../src/pages/operator/setting-texts.ts'

const defaults = Object.fromEntries(SETTING_NAMES.map((name) => [name, null])) as TenantSettings
const settings: TenantSettings = { ...defaults, max_attempts: 5, push_retry_s: [5, 30], rate_limit_agent: 'off' }

test('[UI-32] settings that were not touched are not sent', () => {
  const texts = textsOf(settings)
  assert.deepEqual(texts.push_retry_s, '5, 30')
  assert.deepEqual(changesOf(texts, texts), {})
  assert.deepEqual(changesOf(texts, { ...texts, max_attempts: ' 5 ' }), {})
})

test('[UI-32] an empty text means the default, a number is sent as such, other texts unchanged', () => {
  const before = textsOf(settings)
  const after = {
    ...before,
    max_attempts: '',
    push_retry_s: '1, 2,60',
    rate_limit_agent: '600',
    rate_limit_tenant: 'off',
    quota_agents: 'many',
  }
  assert.deepEqual(changesOf(before, after), {
    max_attempts: null,
    push_retry_s: [1, 2, 60],
    rate_limit_agent: 600,
    rate_limit_tenant: 'off',
    quota_agents: 'many',
  })
})
