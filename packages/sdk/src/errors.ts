// What can go wrong, as types: a failed call says its code, status, details and request id; a handler says what is to
// become of its delivery.

export type ErrorCode =
  | 'validation_failed'
  | 'invalid_event'
  | 'authentication_failed'
  | 'insufficient_scope'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'business_rule_violation'
  | 'rate_limited'
  | 'internal_error'
  | 'service_unavailable'

/** For a gateway that answers in the place of the service, and in its own words. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'authentication_failed',
  403: 'insufficient_scope',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'business_rule_violation',
  429: 'rate_limited',
}

const codeOf = (status: number): string =>
  CODES[status] ?? (status >= 500 ? 'service_unavailable' : status < 400 ? 'redirected' : 'validation_failed')

/** The service refused the call, or could not carry it out. */
export class SensoriumError extends Error {
  override readonly name = 'SensoriumError'
  readonly status: number
  /** A code of the catalogue; others may be added by a later release. */
  readonly code: ErrorCode | (string & {})
  readonly details: Readonly<Record<string, unknown>>
  /** Names the request in the log of the service. */
  readonly requestId: string | null
  /** Seconds after which another try makes sense, where the service says so. */
  readonly retryAfter: number | null

  constructor(status: number, error: Partial<ErrorBody>, requestId: string | null, retryAfter: number | null) {
    const isRedirect = status < 400
    super(error.message ?? `the service responded with ${isRedirect ? `a redirect (${status})` : status}`)
    this.status = status
    this.code = error.code ?? codeOf(status)
    this.details = error.details ?? {}
    this.requestId = error.request_id ?? requestId
    this.retryAfter = retryAfter
  }
}

export interface ErrorBody {
  code: string
  message: string
  request_id: string
  details: Record<string, unknown>
}

/**
 * No response arrived, or not all of it. Whether the call took effect is not known; the same key makes a retry safe.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** Thrown by a handler: give the delivery back; it comes again after that many seconds. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly seconds: number
  constructor(seconds: number, reason = 'the handler asked for another try') {
    super(reason)
    this.seconds = seconds
  }
}

/**
 * Thrown by a handler: no further attempt can help, so put the delivery into the dead-letter queue with this reason.
 */
export class DeadLetter extends Error {
  override readonly name = 'DeadLetter'
}
