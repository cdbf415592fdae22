// Error classes: a failed call throws one with its code, status, details and request id; a handler throws one to decide
// what happens to its delivery.

export type ErrorCode =
  | 'validation_failed'
  | 'invalid_event'
  | 'authentication_failed'
  | 'insufficient_scope'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'business_rule_violation'
  | 'rate_limited'
  | 'internal_error'
  | 'service_unavailable'

/** Codes by status, for a gateway that responds in place of the service with a body of its own. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'authentication_failed',
  403: 'insufficient_scope',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'business_rule_violation',
  429: 'rate_limited',
}

const codeOf = (status: number): string =>
  CODES[status] ?? (status >= 500 ? 'service_unavailable' : status < 400 ? 'redirected' : 'validation_failed')

/** Thrown when the service refused a call or could not carry it out. */
export class SensoriumError extends Error {
  override readonly name = 'SensoriumError'
  readonly status: number
  /** A code of the error catalogue. Later releases may add codes. */
  readonly code: ErrorCode | (string & {})
  readonly details: Readonly<Record<string, unknown>>
  /** Whether the service itself responded. False if the response was that of a gateway in between. */
  readonly isOfService: boolean
  /** Identifies the request in the log of the service. */
  readonly requestId: string | null
  /** Seconds to wait before a retry, or null if the response named none. */
  readonly retryAfter: number | null

  constructor(status: number, error: Partial<ErrorBody>, requestId: string | null, retryAfter: number | null) {
    const isRedirect = status < 400
    super(error.message ?? `the service responded with ${isRedirect ? `a redirect (${status})` : status}`)
    this.status = status
    // A gateway may have a JSON body of the same form, but the id of the request is always in that of the service.
    this.isOfService = typeof error.code === 'string' && typeof error.request_id === 'string'
    this.code = this.isOfService ? error.code! : codeOf(status)
    this.details = error.details ?? {}
    this.requestId = error.request_id ?? requestId
    this.retryAfter = retryAfter
  }
}

/** Returns for how many seconds the service asked to wait. */
export const askedWait = (error: unknown): number => (error instanceof SensoriumError && error.retryAfter) || 0

/** For what the client knows to be nowhere: the same error as from the service, which is not asked. */
export const notFound = (message: string, details: Record<string, unknown>): SensoriumError =>
  new SensoriumError(404, { message, details }, null, null)

export interface ErrorBody {
  code: string
  message: string
  request_id: string
  details: Record<string, unknown>
}

/**
 * Thrown when no response arrived, or only part of one. The call may have taken effect; a retry with the same
 * idempotency key is safe.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/**
 * Thrown by a handler to give the delivery back. It is delivered again after that many seconds, unless this was its
 * last attempt.
 */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly seconds: number
  constructor(seconds: number, reason = 'the handler asked for another try') {
    super(reason)
    this.seconds = seconds
  }
}

/**
 * Thrown by a handler when no further attempt can help. Puts the delivery into the dead-letter queue with this reason.
 */
export class DeadLetter extends Error {
  override readonly name = 'DeadLetter'
}
