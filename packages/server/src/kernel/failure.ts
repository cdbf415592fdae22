// A Failure is an error of the catalogue, thrown wherever it is detected. Any other error that is thrown is a bug or an
// outage, and becomes internal_error or service_unavailable in the transport.
import { hideKeys } from './hide-keys.ts'
import { jsonPieces } from './json-write.ts'
import { ERRORS, type ErrorCode, type ErrorDetails } from '@sensorium/contract'

export class Failure extends Error {
  readonly code: ErrorCode
  readonly details: Record<string, unknown>
  /** Extra response headers, such as Retry-After or Allow. */
  readonly headers: Record<string, string>

  constructor(
    code: ErrorCode,
    message: string,
    details: Record<string, unknown>,
    headers: Record<string, string> = {},
  ) {
    super(message)
    this.code = code
    this.details = details
    this.headers = headers
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** For a `catch` that keeps a refusal for later, and throws what is none. */
export function onlyFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}

// An expected error needs no stack; capturing one costs more than the whole check that fails.
function fail<C extends ErrorCode>(
  code: C,
  message: string,
  details: ErrorDetails<C>,
  headers?: Record<string, string>,
): Failure {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const failure = new Failure(code, message, details, headers)
  Error.stackTraceLimit = limit
  return failure
}

/** Repeats a refusal that was recorded with an idempotency key. */
export const recordedFailure = (
  code: ErrorCode,
  message: string,
  details: Record<string, unknown>,
  headers: Record<string, string> = {},
): Failure => fail(code, message, details as never, { ...headers, 'idempotent-replayed': 'true' })

export interface Invalid {
  field: string
  value: unknown
  expected: string
  example: unknown
}

const VALUE_LENGTH = 200

/** Returns a value that a client sent, short enough to send back. */
export function shownValue(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'bigint') return value.toString()
  // The first piece of its JSON: all of it, or more than is shown.
  const given = typeof value === 'string' ? value : (jsonPieces(value).next().value as string)
  // A character takes one or two code units: this many hold one more character than is shown, if there is one.
  const enough = VALUE_LENGTH * 2 + 2
  const text = hideKeys(given.slice(0, enough))
  const characters = [...text]
  if (given.length > enough || characters.length > VALUE_LENGTH) return characters.slice(0, VALUE_LENGTH).join('')
  if (typeof value === 'string') return text
  return typeof value === 'object' ? (JSON.parse(text) as unknown) : value
}

export const invalid = ({ field, value, expected, example }: Invalid): Failure =>
  fail('validation_failed', `${field}: expected ${expected}`, { field, value: shownValue(value), expected, example })

export const invalidEvent = (field: string, value: unknown, expected: string): Failure =>
  fail('invalid_event', `${field}: expected ${expected}`, { field, value: shownValue(value), expected })

export const unauthenticated = (
  message = 'The access token or API key is missing, malformed, expired or revoked',
): Failure => fail('authentication_failed', message, {}, { 'www-authenticate': 'Bearer' })

/** For a webhook: the same whether the tenant exists or not. */
export const badSignature = (): Failure =>
  fail('authentication_failed', 'The signature is missing or does not fit the body', {})

export const insufficientScope = (scope: string): Failure =>
  fail(
    'insufficient_scope',
    scope === 'org_admin' ? 'This needs a key of an org-admin' : `This needs the scope ${scope}`,
    {
      required_scope: scope,
    },
  )

export const notFound = (
  type: string,
  id: string,
  message = `There is no such ${type.replaceAll('_', ' ')}`,
): Failure =>
  fail('not_found', message, {
    resource_type: type,
    resource_id: String(shownValue(id)),
  })

export const methodNotAllowed = (method: string, allowed: string[]): Failure =>
  fail('method_not_allowed', `${method} is not a method of this path`, { allowed }, { allow: allowed.join(', ') })

export const taken = (what: string, existingId: string | null): Failure =>
  fail('conflict', `${what} is taken`, { idempotency_key: null, existing_resource_id: existingId })

export const keyReused = (key: string, existingId: string | null): Failure =>
  fail('conflict', 'This Idempotency-Key was used with another body', {
    idempotency_key: key,
    existing_resource_id: existingId,
  })

/** The recorded response shows a secret, and another API key of the same caller asked for it again. */
export const keyOfAnother = (key: string, existingId: string | null): Failure =>
  fail('conflict', 'This Idempotency-Key was used with another API key, which alone is shown the secret again', {
    idempotency_key: key,
    existing_resource_id: existingId,
  })

/** The first response is not known any more: it showed texts that neither the memory nor its history has. */
export const changedSince = (key: string | null, existingId: string): Failure =>
  fail('conflict', 'It was done, and has been changed or erased since', {
    idempotency_key: key,
    existing_resource_id: existingId,
  })

export const tooLarge = (actual: number, max: number): Failure =>
  fail('payload_too_large', `The body is over ${max} bytes`, { actual_size: actual, max_size: max })

export const unsupportedMediaType = (contentType: string, supported: readonly string[]): Failure =>
  fail('unsupported_media_type', `Send ${supported.join(' or ')}`, {
    content_type: String(shownValue(contentType)),
    supported: [...supported],
  })

export const ruleBroken = (rule: string, message: string, ids: Record<string, unknown> = {}): Failure =>
  fail('business_rule_violation', message, { rule, message, ...ids })

export const rateLimited = (retryAfter: number, limit: number, window: number): Failure =>
  fail(
    'rate_limited',
    `More than ${limit} requests in ${window} seconds; try again in ${retryAfter} s`,
    { retry_after_seconds: retryAfter, limit, window_seconds: window },
    {
      'retry-after': String(retryAfter),
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(retryAfter),
    },
  )

/** For things that are open or waiting at the same time: there is no window, and one more may begin when one ends. */
export const tooManyAtOnce = (what: string, limit: number): Failure =>
  fail(
    'rate_limited',
    `More than ${limit} ${what}; try again when one of them has ended`,
    { retry_after_seconds: 1, limit, window_seconds: 0 },
    { 'retry-after': '1' },
  )

export const requestTimeout = (expected: string): Failure =>
  fail('request_timeout', `The request did not arrive in time: expected ${expected}`, {})

export const unavailable = (why: string, retryAfter = 1): Failure =>
  fail('service_unavailable', why, { retry_after_seconds: retryAfter }, { 'retry-after': String(retryAfter) })

export const internal = (): Failure =>
  fail('internal_error', 'Something unexpected failed; the same request may be tried again', {})
