// The error catalogue: every code the service responds with, its status, and the shape of its details. One table; the
// server throws from it, OpenAPI and the documentation are generated from it.
import { Type, oneOf, type Static, type Schema } from './shapes.ts'

interface CatalogueEntry {
  status: number
  when: string
  details: Schema
}

const any = Type.Unknown()

export const ERRORS = {
  validation_failed: {
    status: 400,
    when: 'The body or a query parameter violates the schema.',
    details: Type.Object({ field: Type.String(), value: any, expected: Type.String(), example: any }),
  },
  invalid_event: {
    status: 400,
    when: 'The event envelope is malformed.',
    details: Type.Object({ field: Type.String(), value: any, expected: Type.String() }),
  },
  authentication_failed: {
    status: 401,
    when: 'The token is missing, malformed, expired or revoked. Exchange the key again.',
    details: Type.Object({}),
  },
  insufficient_scope: {
    status: 403,
    when: 'The token is valid but lacks the scope that this operation needs.',
    details: Type.Object({ required_scope: Type.String() }),
  },
  not_found: {
    status: 404,
    when: 'The path or resource does not exist, or the caller cannot see it. A resource of another tenant gets the same response.',
    details: Type.Object({ resource_type: Type.String(), resource_id: Type.String() }),
  },
  method_not_allowed: {
    status: 405,
    when: 'The path exists, but not with this method. The Allow header lists the methods that it has.',
    details: Type.Object({ allowed: Type.Array(Type.String()) }),
  },
  request_timeout: {
    status: 408,
    when: 'The request or its body arrived too slowly. The connection is closed.',
    details: Type.Object({}),
  },
  conflict: {
    status: 409,
    when: 'The Idempotency-Key was used with another body, or a unique value is already taken.',
    details: Type.Object({
      idempotency_key: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
      existing_resource_id: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    }),
  },
  payload_too_large: {
    status: 413,
    when: 'The body exceeds the size limit of the operation.',
    details: Type.Object({ actual_size: Type.Integer(), max_size: Type.Integer() }),
  },
  unsupported_media_type: {
    status: 415,
    when: 'The operation does not accept this content type.',
    details: Type.Object({ content_type: Type.String(), supported: Type.Array(Type.String()) }),
  },
  business_rule_violation: {
    status: 422,
    when: 'The request is well formed but breaks a rule of the domain, named in details.rule.',
    details: Type.Object({ rule: Type.String(), message: Type.String() }, { additionalProperties: true }),
  },
  rate_limited: {
    status: 429,
    when: 'The sliding-window limit of the agent, the tenant or the client address is used up. The same error reports too many concurrent requests, waiting polls or open streams; window_seconds is then 0. Retry-After says when to retry.',
    details: Type.Object({
      retry_after_seconds: Type.Integer(),
      limit: Type.Integer(),
      window_seconds: Type.Integer(),
    }),
  },
  internal_error: {
    status: 500,
    when: 'Something unexpected failed. Safe to retry with the same Idempotency-Key.',
    details: Type.Object({}),
  },
  service_unavailable: {
    status: 503,
    when: 'The store is unavailable or busy, the node is shutting down, or its queues are full. Retry-After says when to retry. The request was not accepted, with one exception: if the store became unavailable during the commit, the outcome is unknown, and the message says so. With the same event id or Idempotency-Key a retry is safe in either case.',
    details: Type.Object({ retry_after_seconds: Type.Integer() }),
  },
} as const satisfies Record<string, CatalogueEntry>

export type ErrorCode = keyof typeof ERRORS
export type ErrorDetails<C extends ErrorCode> = Static<(typeof ERRORS)[C]['details']>

export const ErrorEnvelope = Type.Object(
  {
    error: Type.Object({
      code: oneOf(Object.keys(ERRORS) as ErrorCode[]),
      message: Type.String(),
      request_id: Type.String(),
      details: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
    }),
  },
  { $id: 'Error' },
)
