// The error catalogue, from the inside: what each failure says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERRORS, type ErrorCode } from '@sensorium/contract'
import * as failures from '../../src/kernel/failure.ts'

const MADE: Record<ErrorCode, failures.Failure> = {
  validation_failed: failures.invalid({ field: 'limit', value: 0, expected: 'an integer from 1 to 200', example: 50 }),
  invalid_event: failures.invalidEvent('id', undefined, 'a string'),
  authentication_failed: failures.unauthenticated(),
  insufficient_scope: failures.insufficientScope('admin'),
  not_found: failures.notFound('api_key', 'key_1'),
  method_not_allowed: failures.methodNotAllowed('PUT', ['GET', 'POST']),
  request_timeout: failures.requestTimeout('the whole of it'),
  conflict: failures.taken('The slug acme', 'ten_1'),
  payload_too_large: failures.tooLarge(11, 10),
  unsupported_media_type: failures.unsupportedMediaType('text/plain', ['application/json']),
  business_rule_violation: failures.ruleBroken('last_owner', 'The last owner cannot leave', { channel_id: 'chn_1' }),
  rate_limited: failures.rateLimited(7, 100, 60),
  internal_error: failures.internal(),
  service_unavailable: failures.unavailable('The store cannot be reached', 3),
}

for (const [code, { status, details }] of Object.entries(ERRORS) as [ErrorCode, (typeof ERRORS)[ErrorCode]][]) {
  test(`[ERR-12] ${code} has its status, exactly the details of the catalogue, and costs no stack`, () => {
    const failure = MADE[code]
    assert.deepEqual([failure.code, failure.status], [code, status])
    const allowed = Object.keys((details as { properties: object }).properties)
    const extra = code === 'business_rule_violation' ? ['channel_id'] : []
    assert.deepEqual(Object.keys(failure.details).sort(), [...allowed, ...extra].sort())
    assert.ok(!failure.stack?.includes('\n'))
  })
}

test('[HTTP-19] a credential is not sent back, wherever it stood and however it was cut', () => {
  const key = `ak_live_${'Q'.repeat(32)}`
  const token = `eyJ${'a'.repeat(40)}.eyJ${'b'.repeat(60)}.${'c'.repeat(43)}`
  const sentBack = (value: unknown): unknown =>
    failures.invalid({ field: 'x', value, expected: 'y', example: null }).details['value']
  assert.equal(failures.notFound('agent', key).details['resource_id'], 'ak_live_…')
  assert.equal(sentBack(`a ${key} b ${token} c`), 'a ak_live_… b eyJ… c')
  assert.deepEqual(sentBack({ key, n: 1 }), { key: 'ak_live_…', n: 1 })
  assert.equal(sentBack('-'.repeat(180) + key), `${'-'.repeat(180)}ak_live_…`)
  assert.ok(!String(sentBack('-'.repeat(395) + key)).includes('Q'))
  assert.equal(
    sentBack({ many: [key, 'z'.repeat(500)] })
      ?.toString()
      .includes('Q'),
    false,
  )
  assert.equal(sentBack('ak_live is a prefix, eyJ is not enough'), 'ak_live is a prefix, eyJ is not enough')
})

test('[ERR-9][ERR-11] an error that can be retried says when, in the header too', () => {
  assert.equal(MADE.rate_limited.headers['retry-after'], '7')
  assert.equal(MADE.service_unavailable.headers['retry-after'], '3')
  assert.equal(MADE.method_not_allowed.headers['allow'], 'GET, POST')
})

test('[HTTP-19] a value that is sent back is truncated at 200 characters, never inside one', () => {
  const cut = (value: unknown) => failures.shownValue(value)
  assert.equal(cut('x'.repeat(200)), 'x'.repeat(200))
  assert.equal(cut('x'.repeat(201)), 'x'.repeat(200))
  assert.equal(cut('🚀'.repeat(300)), '🚀'.repeat(200))
  assert.deepEqual(cut({ a: 1 }), { a: 1 })
  assert.equal(cut({ a: 'x'.repeat(300) }), `{"a":"${'x'.repeat(194)}`)
  assert.equal(cut(undefined), null)
})
