// The error catalogue: every code the service responds with, its status, and the shape of its details. One table; the
// server throws from it, OpenAPI and the documentation are generated from it.
import { Type, oneOf, type Static, type TSchema } from './shapes.ts'

interface CatalogueEntry {
  status: number
  when: string
  details: TSchema
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
    when: 'The token is valid and lacks the scope this operation needs.',
    details: Type.Object({ required_scope: Type.String() }),
  },
  not_found: {
    status: 404,
    when: 'There is no such thing for this caller; a thing of another tenant is not told apart.',
    details: Type.Object({ resource_type: Type.String(), resource_id: Type.String() }),
  },
  method_not_allowed: {
    status: 405,
    when: 'The path exists, the method does not. The Allow header lists those that do.',
    details: Type.Object({ allowed: Type.Array(Type.String()) }),
  },
  request_timeout: {
    status: 408,
    when: 'The request or its body arrived too slowly. The connection is closed.',
    details: Type.Object({}),
  },
  conflict: {
    status: 409,
    when: 'The Idempotency-Key was used with another body, or a unique value is taken.',
    details: Type.Object({
      idempotency_key: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
      existing_resource_id: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    }),
  },
  payload_too_large: {
    status: 413,
    when: 'The body is over the size limit of the operation.',
    details: Type.Object({ actual_size: Type.Integer(), max_size: Type.Integer() }),
  },
  unsupported_media_type: {
    status: 415,
    when: 'The content type is not one this operation reads.',
    details: Type.Object({ content_type: Type.String(), supported: Type.Array(Type.String()) }),
  },
  business_rule_violation: {
    status: 422,
    when: 'The request is well formed and breaks a rule of the domain, named in details.rule.',
    details: Type.Object({ rule: Type.String(), message: Type.String() }, { additionalProperties: true }),
  },
  rate_limited: {
    status: 429,
    when: 'The sliding-window limit of the agent, the tenant or the client address is used up; or it has too many requests in hand, polls waiting or streams open at once, and window_seconds is 0. Retry-After says when to come back.',
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
    when: 'The store is away or busy, the node drains or its queues are full. Retry-After says when to come back. The request was not taken, except where the store went away during the commit: then nobody can know, and the message says so. The same event id or Idempotency-Key makes the retry safe either way.',
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
