// OpenAPI 3.1 from the operations: schemas with an $id become components, everything else is written where it is used.
import { ERRORS, ErrorEnvelope, type ErrorCode } from './errors.ts'
import { errorExamples, exampleOf, type Json, type JsonObject } from './example.ts'
import { ID_PREFIXES } from './ids.ts'
import type { Operation } from './operation.ts'
import { RULES } from './rules.ts'
import type { Schema } from './shapes.ts'
import { TAGS } from './tags.ts'

// A default is stated in the description: generators such as openapi-typescript treat a field with a default as always
// present, and would make an optional field of a request required.
const INTERNAL = new Set(['$id', 'expected', 'default'])
/** Formats that only our validator knows, with the standard format to show instead, if there is one. */
const OWN_FORMATS: Record<string, string | undefined> = {
  'http-url': 'uri',
  'filled-text': undefined,
  'client-type': undefined,
}

/** Returns a schema as OpenAPI shows it. Named schemas are put into `components` and referenced. */
function toOpenapiSchema(schema: unknown, components: Map<string, Json>, top = false): Json {
  if (Array.isArray(schema)) return schema.map((part) => toOpenapiSchema(part, components))
  if (typeof schema !== 'object' || schema === null) return schema as Json
  const { $id, $ref } = schema as { $id?: string; $ref?: string }
  if ($id !== undefined && !top) {
    if (!components.has($id)) {
      components.set($id, null)
      components.set($id, toOpenapiSchema(schema, components, true))
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
    } else result[key] = toOpenapiSchema(value, components)
  }
  // Stated explicitly: generators turn an object without fields into one that must be empty.
  const isOpen = [result['type']].flat().includes('object') && !('properties' in result)
  if (isOpen) result['additionalProperties'] ??= true
  const { default: fallback } = schema as { default?: Json }
  if (fallback !== undefined && typeof fallback !== 'object')
    result['description'] = [result['description'], `Default: ${JSON.stringify(fallback)}.`].filter(Boolean).join(' ')
  return result
}

const errorResponse = (codes: readonly ErrorCode[], { id }: Operation): Json => ({
  description: codes
    .map((code) => {
      const rules =
        code === 'business_rule_violation' ? ` Here: ${RULES[id]!.map((rule) => `\`${rule}\``).join(', ')}.` : ''
      return `\`${code}\`: ${ERRORS[code].when}${rules}`
    })
    .join(' '),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  },
})

/** Returns the errors that this operation can respond with, and no others. */
function errorsOf(operation: Operation): ErrorCode[] {
  const { scope } = operation.access
  // Any request may have malformed headers.
  const codes: ErrorCode[] = ['validation_failed']
  const readsBody = operation.body !== undefined || operation.consumes !== undefined
  // An event may name a recipient that does not exist.
  if (operation.id === 'publishEvent' || operation.id === 'explainEvent') codes.push('invalid_event', 'not_found')
  if (scope !== 'any' && scope !== 'public' && scope !== 'operator') codes.push('insufficient_scope')
  codes.push('authentication_failed', 'rate_limited', 'internal_error', 'service_unavailable')
  const namesTenant = [operation.query, operation.body].some((shape) => shape?.properties?.['tenant'] !== undefined)
  if (operation.path.includes('{') || namesTenant) codes.push('not_found')
  if (readsBody) codes.push('request_timeout', 'payload_too_large', 'unsupported_media_type')
  if (operation.method !== 'GET' && operation.method !== 'DELETE' && scope !== 'public') codes.push('conflict')
  if (RULES[operation.id]) codes.push('business_rule_violation')
  return codes
}

const takesIdempotencyKey = ({ method, access }: Operation): boolean =>
  (method === 'POST' || method === 'PATCH') && access.scope !== 'public'

/** Returns an example for a path parameter. Its kind follows from the path segment before it, or from its own name. */
function pathExample(path: string, name: string): string {
  const plain: Record<string, string> = { slug: 'acme', tenant_slug: 'acme', participant_type: 'agent' }
  if (plain[name]) return plain[name]
  if (path.startsWith('/events/')) return 'order-1-created'
  const kind = name === 'id' ? path.slice(0, path.indexOf('/{id}')).split('/').at(-1)! : name
  return `${ID_OF[kind] ?? 'id'}_01hv3k8z9q4m7t2x5c6w8r0s1d`
}

const ID_OF: Record<string, string> = {
  agents: ID_PREFIXES.agent,
  participant_id: ID_PREFIXES.agent,
  key_id: ID_PREFIXES.api_key,
  interest_id: ID_PREFIXES.interest,
  channels: ID_PREFIXES.channel,
  feed_id: ID_PREFIXES.feed,
  dlq: ID_PREFIXES.delivery,
  memories: ID_PREFIXES.memory,
  rel_id: ID_PREFIXES.relationship,
  webhooks: ID_PREFIXES.webhook,
  webhook_id: ID_PREFIXES.webhook,
  connectors: ID_PREFIXES.connector,
}

function parametersOf(operation: Operation, components: Map<string, Json>): Json[] {
  const parameters: Json[] = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    schema: { type: 'string', examples: [pathExample(operation.path, name!)] },
  }))
  const query = operation.query as { properties?: Record<string, Schema>; required?: string[] } | undefined
  for (const [name, schema] of Object.entries(query?.properties ?? {})) {
    const { description, ...rest } = toOpenapiSchema(schema, components) as JsonObject
    parameters.push({
      name,
      in: 'query',
      required: query?.required?.includes(name) ?? false,
      ...(description ? { description } : {}),
      schema: rest,
    })
  }
  if (takesIdempotencyKey(operation)) parameters.push({ $ref: '#/components/parameters/IdempotencyKey' })
  if (operation.body && !operation.checksBody) parameters.push({ $ref: '#/components/parameters/Prefer' })
  return parameters
}

/** Returns the body schema for a media type. A batch is a list of the bodies that are otherwise sent one at a time. */
const ofMedia = (type: string, body: unknown): unknown =>
  type.includes('-batch+') ? { type: 'array', minItems: 1, maxItems: 100, items: body } : body

/** Adds the data of a stream's events. OpenAPI 3.1 has no way to name the kinds of events; the description does. */
const withMessages = (schema: Json, { messages }: Operation, components: Map<string, Json>): Json =>
  messages === undefined
    ? schema
    : {
        ...(schema as JsonObject),
        contentMediaType: 'application/json',
        contentSchema: { anyOf: Object.values(messages).map((message) => toOpenapiSchema(message, components)) },
      }

/** Returns every response: the successes with their schemas and examples, then the errors by status. */
function responsesOf(operation: Operation, components: Map<string, Json>): JsonObject {
  const responses: JsonObject = {}
  for (const [status, { description, schema }] of Object.entries(operation.success)) {
    const visible = schema ? toOpenapiSchema(schema, components) : undefined
    responses[status] = {
      description,
      ...(visible === undefined
        ? {}
        : {
            content: {
              [operation.produces ?? 'application/json']: {
                schema: withMessages(visible, operation, components),
                example: exampleOf(visible, components),
              },
            },
          }),
    }
  }
  const byStatus = Map.groupBy(errorsOf(operation), (code) => ERRORS[code].status)
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b))
    responses[status] = errorResponse(codes, operation)
  return responses
}

function requestOf(operation: Operation, components: Map<string, Json>): JsonObject {
  const media = operation.consumes ?? ['application/json']
  const content = media.map((type) => {
    const schema = toOpenapiSchema(ofMedia(type, operation.body), components)
    return [type, { schema, example: exampleOf(schema, components, true) }]
  })
  return { required: !operation.bodyOptional, content: Object.fromEntries(content) }
}

function needsOf({ access: { scope, or, self } }: Operation): string {
  if (scope === 'public') return 'Requires no token.'
  if (scope === 'any') return 'Requires a token of the tenant; no scope is needed.'
  if (scope === 'operator') return 'Requires the operator token.'
  if (scope === 'org_admin') return 'Requires the token of an org-admin.'
  const own =
    self === undefined
      ? ''
      : self === 'any'
        ? ', or a token of the agent itself'
        : `, or \`${self}\` for the agent itself`
  const other = or === undefined ? '' : ` or \`${or}\``
  return `Requires the scope \`${scope}\`${other}${own}.`
}

const SECURITY: Record<string, Json> = { public: [], operator: [{ operator: [] }] }

function pathItem(operation: Operation, components: Map<string, Json>): JsonObject {
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, needsOf(operation)].filter(Boolean).join('\n\n'),
    security: SECURITY[operation.access.scope] ?? [{ bearer: [] }],
    parameters: parametersOf(operation, components),
    ...(operation.body ? { requestBody: requestOf(operation, components) } : {}),
    responses: responsesOf(operation, components),
  }
}

export function openapi(operations: readonly Operation[]): JsonObject {
  const components = new Map<string, Json>()
  toOpenapiSchema(ErrorEnvelope, components)
  const paths: Record<string, JsonObject> = {}
  // All schemas first: an example may need a schema that is only referenced until later.
  for (const { body, success, messages = {} } of operations)
    for (const schema of [body, ...Object.values(success).map((one) => one.schema), ...Object.values(messages)])
      if (schema) toOpenapiSchema(schema, components)
  for (const operation of operations) {
    const path = (operation.base === 'v1' ? '/v1' : '') + operation.path
    ;(paths[path] ??= {})[operation.method.toLowerCase()] = pathItem(operation, components)
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
    tags: [...new Set(operations.map((operation) => operation.tag))].map((name) => ({
      name,
      description: TAGS[name] ?? name,
    })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token from POST /v1/auth/token.',
        },
        operator: { type: 'http', scheme: 'bearer', description: 'The operator token of this installation.' },
      },
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description:
            'Makes a retry safe: for at least 24 hours, the same key with the same body returns the same response.',
          schema: { type: 'string', maxLength: 255 },
        },
        Prefer: {
          name: 'Prefer',
          in: 'header',
          required: false,
          description: '`handling=strict` refuses unknown fields of the body, which are otherwise ignored.',
          schema: { type: 'string', examples: ['handling=strict'] },
        },
      },
      examples: errorExamples(),
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}
