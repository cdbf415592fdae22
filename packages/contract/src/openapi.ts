// OpenAPI 3.1 from the operations: schemas with an $id become components, everything else is written where it is used.
import { ERRORS, ErrorEnvelope, type ErrorCode } from './errors.ts'
import type { Operation } from './operation.ts'
import type { TSchema } from './shapes.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type JsonObject = { [key: string]: Json }

const INTERNAL = new Set(['$id', 'expected'])
/** Formats that only our validator knows. */
const OWN_FORMATS: Record<string, string | undefined> = {
  'http-url': 'uri',
  'filled-text': undefined,
  'client-type': undefined,
}

/** A schema as OpenAPI shows it; named schemas are put into `components` and referred to. */
function shown(schema: unknown, components: Map<string, Json>, top = false): Json {
  if (Array.isArray(schema)) return schema.map((part) => shown(part, components))
  if (typeof schema !== 'object' || schema === null) return schema as Json
  const { $id, $ref } = schema as { $id?: string; $ref?: string }
  if ($id !== undefined && !top) {
    if (!components.has($id)) {
      components.set($id, null)
      components.set($id, shown(schema, components, true))
    }
    return { $ref: `#/components/schemas/${$id}` }
  }
  if ($ref !== undefined) return { $ref: `#/components/schemas/${$ref}` }
  const result: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) {
    if (INTERNAL.has(key)) continue
    if (key === 'format' && typeof value === 'string' && value in OWN_FORMATS) {
      const format = OWN_FORMATS[value]
      if (format) result[key] = format
    } else result[key] = shown(value, components)
  }
  return result
}

const errorResponse = (codes: readonly ErrorCode[]): Json => ({
  description: codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join(' '),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

function errorsOf(operation: Operation): ErrorCode[] {
  const codes: ErrorCode[] = ['validation_failed']
  if (operation.tag === 'Events') codes.push('invalid_event')
  if (operation.access.scope !== 'any' && operation.access.scope !== 'public') codes.push('insufficient_scope')
  codes.push('authentication_failed', 'rate_limited', 'internal_error', 'service_unavailable')
  if (operation.path.includes('{')) codes.push('not_found')
  if (operation.body || operation.consumes) codes.push('request_timeout', 'payload_too_large', 'unsupported_media_type')
  const isWrite = operation.method !== 'GET' && operation.method !== 'DELETE'
  if (isWrite && operation.access.scope !== 'public') codes.push('conflict')
  if (operation.method !== 'GET') codes.push('business_rule_violation')
  return codes
}

function parametersOf(operation: Operation, components: Map<string, Json>): Json[] {
  const parameters: Json[] = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const query = operation.query as { properties?: Record<string, TSchema>; required?: string[] } | undefined
  for (const [name, schema] of Object.entries(query?.properties ?? {})) {
    const { description, ...rest } = shown(schema, components) as JsonObject
    parameters.push({
      name,
      in: 'query',
      required: query?.required?.includes(name) ?? false,
      ...(description ? { description } : {}),
      schema: rest,
    })
  }
  if ((operation.method === 'POST' || operation.method === 'PATCH') && operation.access.scope !== 'public') {
    parameters.push({ $ref: '#/components/parameters/IdempotencyKey' })
  }
  if (operation.body && !operation.checksBody) parameters.push({ $ref: '#/components/parameters/Prefer' })
  return parameters
}

/** A batch is a list of what is otherwise sent alone. */
const ofMedia = (type: string, body: unknown): unknown =>
  type.includes('-batch+') ? { type: 'array', minItems: 1, maxItems: 100, items: body } : body

export function openapi(operations: readonly Operation[]): JsonObject {
  const components = new Map<string, Json>()
  shown(ErrorEnvelope, components)
  const paths: Record<string, JsonObject> = {}
  for (const operation of operations) {
    const path = (operation.base === 'v1' ? '/v1' : '') + operation.path
    const responses: JsonObject = {}
    for (const [status, { description, schema }] of Object.entries(operation.success)) {
      responses[status] = {
        description,
        ...(schema
          ? { content: { [operation.produces ?? 'application/json']: { schema: shown(schema, components) } } }
          : {}),
      }
    }
    const byStatus = Map.groupBy(errorsOf(operation), (code) => ERRORS[code].status)
    for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) responses[status] = errorResponse(codes)

    const media = operation.consumes ?? ['application/json']
    const { scope, self } = operation.access
    const needs =
      scope === 'public'
        ? 'Public.'
        : scope === 'any'
          ? 'Any principal of the tenant.'
          : scope === 'operator'
            ? 'The operator.'
            : `Scope \`${scope}\`${self === undefined ? '' : self === 'any' ? ', or the agent itself' : `, or \`${self}\` for the agent itself`}.`
    ;(paths[path] ??= {})[operation.method.toLowerCase()] = {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      description: [operation.description, needs].filter(Boolean).join('\n\n'),
      security: scope === 'public' ? [] : scope === 'operator' ? [{ operator: [] }] : [{ bearer: [] }],
      parameters: parametersOf(operation, components),
      ...(operation.body
        ? {
            requestBody: {
              required: !operation.bodyOptional,
              content: Object.fromEntries(
                media.map((type) => [type, { schema: shown(ofMedia(type, operation.body), components) }]),
              ),
            },
          }
        : {}),
      responses,
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sensorium',
      version: '1.0.0',
      description:
        'The sensing and memory back end that autonomous agents plug into: events in, one durable mailbox per agent, and a memory beside it.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map((operation) => operation.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The access token of POST /v1/auth/token.',
        },
        operator: { type: 'http', scheme: 'bearer', description: 'The operator token of this installation.' },
      },
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'Makes a retry safe: the same key with the same body answers the same, for 24 hours at least.',
          schema: { type: 'string', maxLength: 255 },
        },
        Prefer: {
          name: 'Prefer',
          in: 'header',
          required: false,
          description:
            '`handling=strict` refuses a field of the body that the operation does not know, which is otherwise ignored.',
          schema: { type: 'string', examples: ['handling=strict'] },
        },
      },
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}
