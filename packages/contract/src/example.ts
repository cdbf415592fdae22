// Examples generated from schemas, so that the document never shows one that its own schema refuses.
import { ERRORS, type ErrorCode } from './errors.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

interface Shape {
  $ref?: string
  type?: string | string[]
  enum?: Json[]
  const?: Json
  anyOf?: Shape[]
  items?: Shape
  properties?: Record<string, Shape>
  required?: string[]
  examples?: Json[]
  format?: string
  minimum?: number
}

const PLAIN: Record<string, Json> = { integer: 1, number: 0.5, boolean: true, null: null, string: 'text' }

/**
 * Returns an example value of a schema: the schema's own example if it has one. An example of a request has only the
 * required fields, or the first field if none is required. An example of a response has every field.
 */
export function exampleOf(schema: Json, components: ReadonlyMap<string, Json>, request = false): Json {
  const shape = schema as Shape
  const inner = (part: Shape | undefined): Json => exampleOf((part ?? {}) as Json, components, request)
  if (shape.examples) return shape.examples[0]!
  if (shape.$ref) return exampleOf(components.get(shape.$ref.split('/').at(-1)!) ?? null, components, request)
  if (shape.const !== undefined) return shape.const
  if (shape.enum) return shape.enum[0]!
  if (shape.anyOf) return inner(shape.anyOf[0])
  const type = [shape.type ?? 'string'].flat()[0]!
  if (type === 'array') return [inner(shape.items)]
  if (type === 'object') {
    const fields = Object.entries(shape.properties ?? {})
    const needed = fields.filter(([name]) => shape.required?.includes(name))
    const shown = request ? (needed.length > 0 ? needed : fields.slice(0, 1)) : fields
    return Object.fromEntries(shown.map(([name, field]) => [name, inner(field)]))
  }
  if (shape.format === 'date-time') return '2030-01-31T12:00:00Z'
  return type === 'integer' && shape.minimum !== undefined ? Math.max(1, shape.minimum) : PLAIN[type]!
}

const MESSAGES: Record<ErrorCode, [message: string, details: JsonObject]> = {
  validation_failed: [
    'name must be a non-empty string of at most 255 characters',
    { field: 'name', value: '', expected: 'a non-empty string of at most 255 characters', example: 'Watcher' },
  ],
  invalid_event: [
    'type must be a non-empty string',
    { field: 'type', value: null, expected: 'a non-empty string of at most 255 characters' },
  ],
  authentication_failed: ['The token is missing, malformed, expired or revoked', {}],
  insufficient_scope: ['The scope send is required', { required_scope: 'send' }],
  not_found: ['There is no such agent', { resource_type: 'agent', resource_id: 'agt_01hv3k8z9q4m7t2x5c6w8r0s1d' }],
  method_not_allowed: ['PUT is not allowed here', { allowed: ['GET', 'POST'] }],
  request_timeout: ['The body arrived too slowly', {}],
  conflict: [
    'The Idempotency-Key was used with another body',
    { idempotency_key: 'order-1', existing_resource_id: null },
  ],
  payload_too_large: ['The body is too large', { actual_size: 2_097_152, max_size: 1_048_576 }],
  unsupported_media_type: [
    'text/plain is not read here',
    { content_type: 'text/plain', supported: ['application/json'] },
  ],
  business_rule_violation: ['A rule of the domain is broken', { rule: 'not_owner', message: 'Only its owner may' }],
  rate_limited: ['Too many requests', { retry_after_seconds: 3, limit: 600, window_seconds: 60 }],
  internal_error: ['Something unexpected failed', {}],
  service_unavailable: ['The store cannot be reached or takes no writes', { retry_after_seconds: 2 }],
}

/** One example for each error that an operation can respond with, by code. No operation responds to a wrong method. */
export const errorExamples = (): JsonObject =>
  Object.fromEntries(
    (Object.keys(ERRORS) as ErrorCode[])
      .filter((code) => code !== 'method_not_allowed')
      .map((code) => {
        const [message, details] = MESSAGES[code]
        return [code, { value: { error: { code, message, request_id: 'req_4f1c2a9be07700000001', details } } }]
      }),
  )
