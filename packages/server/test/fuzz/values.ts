// JSON for request bodies: values that a schema accepts, values that it barely rejects, and hostile values.
import type { Random } from './random.ts'

export interface Schema {
  type?: string | string[]
  $ref?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  examples?: unknown[]
  default?: unknown
}

export type Resolve = (schema: Schema) => Schema
/** An id that exists, for a field that names one. */
export type KnownId = (field: string) => string | undefined

const WORDS = [
  'a',
  'Watcher',
  'com.example.order.created',
  'order/42',
  'Zürich',
  '東京',
  '🚀🚀',
  'data.amount > 100',
  '*',
  'com.*',
  'x'.repeat(255),
  ' spaced ',
  "it's",
  '"quoted"',
  '%_',
  '\\',
  '\t\n',
]
const ANY = [
  null,
  true,
  0,
  -1,
  1.5,
  'text',
  [],
  {},
  [1, 'two', null],
  { amount: 120, nested: { deep: [1, 2, { three: 3 }] } },
]

/** Text that is put into the JSON unchanged, which JSON.stringify would never write. */
const RAW = '@@raw:'
export const raw = (text: string): string => `${RAW}${text}@@`

const HOSTILE_STRINGS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udfff',
  '\ud83d',
  '\ufeff',
  '\u202e',
  '\uffff',
  '\u2028',
  'null',
  'undefined',
  'NaN',
  '[object Object]',
  "'; drop table agents; --",
  '" or 1=1',
  '$1',
  '?',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '${7*7}',
  '%00',
  '%ff',
  '\\u0000',
  'x'.repeat(256),
  'x'.repeat(5000),
  '🚀'.repeat(300),
  '\n'.repeat(300),
  ' '.repeat(300),
  'http://',
  'http://[',
  'https://user:pw@host:99999/',
  'javascript:alert(1)',
  'file:///etc/passwd',
  '2030-13-01T00:00:00Z',
  '2030-02-30T00:00:00Z',
  '0000-00-00T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2030-01-01',
  '2030-01-01T00:00:00',
  '-271821-04-20T00:00:00Z',
  '1e9',
  '9223372036854775808',
  '[unclosed',
  '*'.repeat(200),
  '[[[[[',
  '\\',
  'a && (',
  '((((((((((',
  'x.matches("(a+)+$")',
  'size(data) > 1 / 0',
  '"'.repeat(50),
  '1'.repeat(400),
]
const HOSTILE_VALUES: unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1,
  0.1,
  1.5,
  101,
  201,
  1001,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 63,
  -(2 ** 63),
  1e21,
  1e100,
  1e308,
  -1e308,
  5e-324,
  raw('1e400'),
  raw('-1e400'),
  raw('123456789012345678901234567890'),
  raw('0.1e-400'),
  raw('1E+2'),
  raw('-0'),
  [],
  {},
  [[]],
  [null],
  [{}],
  ['a', 1, null],
  { length: 1 },
  { toString: 1 },
  raw('{"__proto__":{"admin":true}}'),
  raw('{"constructor":{"prototype":{"x":1}}}'),
  raw('{"a":1,"a":2}'),
  raw('{"":""}'),
  raw(`{"${'k'.repeat(1000)}":1}`),
  raw('['.repeat(63) + ']'.repeat(63)),
  raw('['.repeat(70) + ']'.repeat(70)),
  raw('{"a":'.repeat(70) + '1' + '}'.repeat(70)),
]

export const hostile = (r: Random): unknown => (r.chance(0.5) ? r.pick(HOSTILE_STRINGS) : r.pick(HOSTILE_VALUES))

function validString(schema: Schema, r: Random): string {
  if (schema.format === 'date-time')
    return r.pick(['2035-01-31T12:00:00Z', '2040-12-31T23:59:59.999+05:30', '2036-02-29T00:00:00-11:00'])
  if (schema.format === 'uri') return r.pick(['https://example.com/a', 'http://example.com:8080/in?x=1#y'])
  if (schema.pattern !== undefined || schema.examples) {
    const example = r.pick(schema.examples ?? ['example'])
    if (schema.pattern !== undefined || r.chance(0.6)) return String(example)
  }
  const max = schema.maxLength ?? 100
  if (r.chance(0.05)) return 'é'.repeat(Math.min(max, 40_000))
  const word = r.pick(WORDS)
  return word.length <= max ? word : word.slice(0, max)
}

function validNumber(schema: Schema, r: Random, whole: boolean): number {
  const min = schema.minimum ?? 0
  const max = schema.maximum ?? min + 1000
  const edge = r.int(4)
  if (edge === 0) return min
  if (edge === 1) return max
  return whole ? min + r.int(Math.min(max - min + 1, 1000)) : min + r.next() * (max - min)
}

/** A value that the schema accepts, as far as a schema can tell. */
export function valid(schema: Schema, r: Random, resolve: Resolve, knownId: KnownId, field = '', depth = 0): unknown {
  const s = resolve(schema)
  if (s.const !== undefined) return s.const
  if (s.enum) return r.pick(s.enum)
  if (s.anyOf) return valid(r.pick(s.anyOf), r, resolve, knownId, field, depth)
  const type = Array.isArray(s.type) ? r.pick(s.type) : s.type
  if (type === 'null') return null
  if (type === 'boolean') return r.chance(0.5)
  if (type === 'integer') return validNumber(s, r, true)
  if (type === 'number') return validNumber(s, r, false)
  if (type === 'string') return (r.chance(0.85) ? knownId(field) : undefined) ?? validString(s, r)
  if (type === 'array') {
    const count = Math.max(s.minItems ?? 0, r.int(Math.min((s.maxItems ?? 3) + 1, 4)))
    return Array.from({ length: count }, () => valid(s.items ?? {}, r, resolve, knownId, field, depth + 1))
  }
  if (s.properties) {
    const required = new Set(s.required)
    const entries = Object.entries(s.properties).filter(([name]) => required.has(name) || r.chance(0.5))
    return Object.fromEntries(
      entries.map(([name, property]) => [name, valid(property, r, resolve, knownId, name, depth + 1)]),
    )
  }
  return depth > 3 ? 1 : r.pick(ANY)
}

/** Changes one or two things in a value: drops, replaces or adds. */
export function spoiled(value: unknown, r: Random): unknown {
  if (typeof value !== 'object' || value === null || r.chance(0.05)) return hostile(r)
  if (Array.isArray(value)) {
    if (r.chance(0.1)) return Array.from({ length: r.pick([101, 65, 1001]) }, () => value[0] ?? 'x')
    return value.length === 0
      ? [hostile(r)]
      : value.map((item, i) => (i === 0 || r.chance(0.2) ? spoiled(item, r) : item))
  }
  const copy: Record<string, unknown> = { ...value }
  const names = Object.keys(copy)
  for (let n = r.chance(0.2) ? 2 : 1; n > 0; n--) {
    const name =
      names.length > 0 && r.chance(0.85)
        ? r.pick(names)
        : r.pick(['extra', 'id', 'tenant_id', 'agent_id', 'constructor', 'toString', 'hasOwnProperty', '', '$ref'])
    if (r.chance(0.2)) delete copy[name]
    else copy[name] = r.chance(0.3) ? spoiled(copy[name], r) : hostile(r)
  }
  return copy
}

/** JSON text in which raw parts are inserted unchanged. */
export const encode = (value: unknown): string =>
  (JSON.stringify(value) ?? '').replace(
    /"@@raw:((?:[^"\\]|\\.)*)@@"/g,
    (_, text: string) => JSON.parse(`"${text}"`) as string,
  )

/** Bytes that are not JSON, or only nearly. */
export function brokenBytes(text: string, r: Random): Buffer {
  const bytes = Buffer.from(text)
  switch (r.int(9)) {
    case 0:
      return bytes.subarray(0, r.int(bytes.length + 1))
    case 1:
      return Buffer.concat([bytes, Buffer.from(r.pick(['}', ' x', '\0', '[]', ',']))])
    case 2:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]) // a byte order mark
    case 3: {
      // broken UTF-8 inside of a string
      const at = bytes.indexOf('":"')
      return at < 0
        ? Buffer.from([0xff])
        : Buffer.concat([
            bytes.subarray(0, at + 3),
            Buffer.from(r.pick([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]])),
            bytes.subarray(at + 3),
          ])
    }
    case 4:
      return Buffer.from(text, 'utf16le')
    case 5:
      return Buffer.from('['.repeat(r.pick([64, 65, 1000, 100_000])))
    case 6:
      return Buffer.from(text.replace(/"/g, "'"))
    case 7:
      return Buffer.from(
        r.pick([
          '',
          ' ',
          'null',
          'true',
          '0',
          '"text"',
          '[]',
          '{}',
          '{',
          '\0',
          '---\na: 1',
          '<xml/>',
          'a=1&b=2',
          '{"a":undefined}',
          '{"a":NaN}',
          '{a:1}',
          '// c\n{}',
        ]),
      )
    default: {
      const copy = Buffer.from(bytes)
      if (copy.length > 0) copy[r.int(copy.length)] = r.int(256)
      return copy
    }
  }
}
