// Assertions that hold for every error response.
import assert from 'node:assert/strict'
import { ERRORS, type ErrorCode } from '@sensorium/contract'
import type { Reply } from './service.ts'

interface Envelope {
  error: { code: string; message: string; request_id: string; details: Record<string, unknown> }
}

/**
 * Asserts that the reply is this error of the catalogue: status, envelope, request id, every detail that the code
 * defines, and the given details.
 */
export function assertError(
  reply: Reply<unknown>,
  code: ErrorCode,
  details: Record<string, unknown> = {},
): Record<string, unknown> {
  assert.equal(
    `${reply.status} ${(reply.body as Envelope | null)?.error?.code}`,
    `${ERRORS[code].status} ${code}`,
    reply.text,
  )
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
  const { error, ...beside } = reply.body as Envelope
  assert.deepEqual(beside, {})
  assert.deepEqual(Object.keys(error).sort(), ['code', 'details', 'message', 'request_id'])
  assert.ok(error.message.length > 0)
  assert.equal(error.request_id, reply.headers.get('x-request-id'))
  const defined = Object.keys((ERRORS[code].details as { properties: object }).properties).sort()
  const named = Object.keys(error.details).sort()
  if (code === 'business_rule_violation')
    assert.ok(
      defined.every((name) => named.includes(name)),
      `${named}`,
    )
  else assert.deepEqual(named, defined)
  assert.partialDeepStrictEqual(error.details, details)
  return error.details
}
