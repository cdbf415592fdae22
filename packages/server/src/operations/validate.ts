// Compiles the schemas of the contract into checks that return the details of validation_failed: one field, the value
// sent, what was expected, and an example that passes.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Schema } from '@sensorium/contract'
import type { Invalid } from '../kernel/failure.ts'
import { isDateTime, isFilledText, isHttpUrl, isUri, isUriReference } from '../kernel/formats.ts'
import { ANYTHING, type Repeatable } from './repeatable.ts'

export type Check = (value: unknown) => Invalid | null
export type CompileCheck = (schema: Schema, repeatable?: Repeatable) => Check

interface Described {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  items?: Described
  properties?: Record<string, Described>
  required?: string[]
  expected?: string
  examples?: unknown[]
  default?: unknown
}

const ARTICLES: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
}

const range = (min: number | undefined, max: number | undefined): string =>
  min !== undefined && max !== undefined
    ? ` from ${min} to ${max}`
    : min !== undefined
      ? ` of at least ${min}`
      : max !== undefined
        ? ` of at most ${max}`
        : ''

/** Describes in words what a schema accepts. */
export function describe(schema: Described): string {
  if (schema.expected) return schema.expected
  if (schema.enum) return `one of: ${schema.enum.join(', ')}`
  if (schema.format === 'date-time') return 'an ISO 8601 date-time with a time zone'
  const types = [schema.type ?? []].flat()
  const words = types.map((type) => ARTICLES[type] ?? type).join(' or ') || 'a value'
  if (types.includes('integer') || types.includes('number')) return words + range(schema.minimum, schema.maximum)
  if (types.includes('array'))
    return `${words}${range(schema.minItems, schema.maxItems)} items${schema.items ? `, each ${describe(schema.items)}` : ''}`
  if (schema.maxLength !== undefined) return `${words} of ${schema.minLength ?? 0} to ${schema.maxLength} characters`
  return words
}

const PLAIN_EXAMPLES: Record<string, unknown> = {
  string: 'example',
  integer: 1,
  number: 0.5,
  boolean: true,
  null: null,
}

/** Returns a value that the schema accepts. */
export function exampleOf(schema: Described): unknown {
  if (schema.examples) return schema.examples[0]
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  const type = [schema.type ?? 'object'].flat()[0]!
  if (type === 'array') return schema.items ? [exampleOf(schema.items)] : []
  if (type === 'object')
    return Object.fromEntries((schema.required ?? []).map((name) => [name, exampleOf(schema.properties?.[name] ?? {})]))
  if (schema.minimum !== undefined) return schema.minimum
  return PLAIN_EXAMPLES[type] ?? null
}

/** Converts a JSON pointer: `/scopes/1/name` becomes `scopes[1].name`. */
function jsonPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), '')
}

function explain(error: ErrorObject, repeatable: Repeatable, clientTypes: readonly string[]): Invalid {
  const parent = error.parentSchema as Described
  const missing =
    error.keyword === 'required' ? (error.params as { missingProperty: string }).missingProperty : undefined
  const at = jsonPath(error.instancePath)
  const field = missing === undefined ? at || 'body' : at ? `${at}.${missing}` : missing
  const schema = missing === undefined ? parent : (parent.properties?.[missing] ?? {})
  const words = schema.format === 'client-type' ? `one of: ${clientTypes.join(', ')}` : describe(schema)
  // A body that is not an object may be a secret itself.
  const repeated = at ? repeatable.ofField(at, error.data) : repeatable.ofPart(error.data)
  return {
    field,
    value: missing === undefined ? repeated : undefined,
    expected: words + (missing === undefined ? '' : ' (required)'),
    example: exampleOf(schema),
  }
}

/** Returns a compiler of checks. `clientTypes` are the values that the operator configured, and `other`. */
export function makeCompileCheck(clientTypes: readonly string[]): CompileCheck {
  const ajv = new Ajv2020({ strict: false, verbose: true, useDefaults: false, allErrors: false, validateSchema: false })
  const formats: Record<string, (text: string) => boolean> = {
    'date-time': isDateTime,
    uri: isUri,
    'uri-reference': isUriReference,
    'http-url': isHttpUrl,
    'filled-text': isFilledText,
    'client-type': (text) => clientTypes.includes(text),
  }
  for (const [name, validate] of Object.entries(formats)) ajv.addFormat(name, { type: 'string', validate })

  return (schema, repeatable = ANYTHING) => {
    // Compiled on first use: compiling all seventy schemas at startup cost 100 ms and 8 MB.
    let compiled: ValidateFunction | undefined
    return (value) => {
      const validate = (compiled ??= ajv.compile(schema))
      if (validate(value)) return null
      const error = validate.errors![0]!
      return explain(error, repeatable, clientTypes)
    }
  }
}

const compilers = new Map<string, CompileCheck>()

/** Returns one compiler for all services of a process with the same client types, so that a schema is compiled once. */
export function compileCheckFor(clientTypes: readonly string[]): CompileCheck {
  const key = JSON.stringify(clientTypes)
  const compileCheck = compilers.get(key) ?? makeCompileCheck(clientTypes)
  compilers.set(key, compileCheck)
  return compileCheck
}

/** Converts the strings of a query to the types of its schema. A value that does not fit stays and fails the check. */
export function readQuery(schema: Schema, query: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema as Described).properties ?? {}
  const read: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const value = query[name]
    if (value === undefined) continue
    const type = property.type
    if (type === 'integer' && typeof value === 'string' && /^[+-]?\d{1,300}$/.test(value)) read[name] = Number(value)
    else if (type === 'boolean' && (value === 'true' || value === 'false')) read[name] = value === 'true'
    else read[name] = value
  }
  return read
}
