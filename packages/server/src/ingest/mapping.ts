// Maps what another system sent to an event: CEL over `body` and `headers`. Pure.
//
// 1. No JSON body is lost: if its type or data cannot be determined, the event is `com.<source>.unmapped.received`.
// 2. The same body always gives the same event id, so a retry is a duplicate.
// 3. The body is kept byte for byte in `original`, and in `data` unless an expression says otherwise, so numbers too
//    long for JavaScript survive.
import { createHash } from 'node:crypto'
import { compileExpression, CelSyntaxError, type Expression } from '@sensorium/cel'
import { MAX_EVENT_ID, type IngestMapping } from '@sensorium/contract'
import { prepareEvent, type PreparedEvent } from '../events/envelope.ts'
import { iso } from '../kernel/clock.ts'
import { invalid } from '../kernel/failure.ts'
import { MAX_DEPTH } from '../kernel/json.ts'
import { textSteps, TooDeep } from '../kernel/json-write.ts'

const PARTS = ['entity', 'action', 'id', 'subject', 'data'] as const
type Part = (typeof PARTS)[number]
export type FullMapping = Record<Part, string>

export const DEFAULT_MAPPING: FullMapping = {
  entity: 'body.entity',
  action: 'body.action',
  id: 'body.id',
  subject: 'entity + "/" + id',
  data: 'body',
}

const INPUT_VARIABLES = ['body', 'headers']
// The subject may use the parts that were mapped before it, as the default subject does.
const VARIABLES: Record<Part, string[]> = {
  entity: INPUT_VARIABLES,
  action: INPUT_VARIABLES,
  id: INPUT_VARIABLES,
  data: [...INPUT_VARIABLES, 'compact'],
  subject: [...INPUT_VARIABLES, 'entity', 'action', 'id'],
}
const MAX_TYPE = 255
const MAX_SUBJECT = 4096
/** How much longer than the body an expression may make the data: `[body, body, body]` does not normalise. */
const MAX_ADDED = 65_536

/** Reduces a body to the part that an agent needs. Pure. Returns undefined if the body is not from that provider. */
export type Compact = (body: unknown) => unknown

export interface Mapper {
  /** Yields after each step, so that the caller can pause: any part may be as large as the body. */
  map(arrival: Arrival): Generator<void, PreparedEvent>
}

interface Arrival {
  body: unknown
  /** The body as it came, valid JSON. */
  raw: Buffer
  headers: Readonly<Record<string, unknown>>
  now: number
  /** The id that came beside the body, if any. It is used if the mapping yields no id. */
  fallbackId?: string | null
}

/** Fills in the defaults. Throws for an expression that does not parse, and names its field. */
export function completeMapping(given: IngestMapping = {}, defaults: FullMapping = DEFAULT_MAPPING): FullMapping {
  const full = { ...defaults, ...given }
  for (const part of PARTS) {
    try {
      compileExpression(full[part], VARIABLES[part])
    } catch (error) {
      if (!(error instanceof CelSyntaxError)) throw error
      const expected = `a CEL expression, but this has ${error.message}`
      throw invalid({ field: `mapping.${part}`, value: full[part], expected, example: DEFAULT_MAPPING[part] })
    }
  }
  return Object.fromEntries(PARTS.map((part) => [part, full[part]])) as FullMapping
}

/** Compiles a mapping. `compact` comes from the preset; without a preset, `compact` in the mapping is the body. */
export function compileMapping(source: string, mapping: FullMapping, compact: Compact = (body) => body): Mapper {
  const compiled = PARTS.map((part) => [part, compileExpression(mapping[part], VARIABLES[part])])
  const expressions = Object.fromEntries(compiled) as Record<Part, Expression>
  const wholeBody = mapping.data === DEFAULT_MAPPING.data
  const readsCompact = mapping.data.includes('compact')

  function* evaluate(part: Part, bindings: Record<string, unknown>): Generator<void, unknown> {
    try {
      return yield* expressions[part].evaluateSteps(bindings, keepBigint)
    } catch {
      // A body that makes an expression fail is not lost: the event is stored unmapped.
      return undefined
    }
  }

  function* dataOf(outside: { body: unknown; headers: unknown }): Generator<void, unknown> {
    if (wholeBody) return outside.body
    if (!readsCompact) return yield* evaluate('data', outside)
    const block = compact(outside.body)
    return yield* evaluate('data', block === undefined ? outside : { ...outside, compact: block })
  }

  function* map({ body, raw, headers, now, fallbackId = null }: Arrival): Generator<void, PreparedEvent> {
    const outside = { body, headers }
    const entity = asName(yield* evaluate('entity', outside))
    const action = asName(yield* evaluate('action', outside))
    const id = asId(yield* evaluate('id', outside), source)
    const data = yield* dataOf(outside)
    const subject =
      id === null ? null : asSubject(yield* evaluate('subject', { ...outside, ...given({ entity, action, id }) }))
    const type = entity === null || action === null ? '' : typeOf(source, entity, action)
    const dataText = wholeBody || data === undefined ? undefined : yield* textOfData(data)
    const fits = wholeBody || (dataText !== undefined && dataText.length <= raw.length + MAX_ADDED)
    const mapped = type !== '' && fits

    const text = raw.toString('utf8')
    const attributes = {
      specversion: '1.0',
      type: mapped ? type : `com.${source}.unmapped.received`,
      source: `/ingest/${source}`,
      id: `${source}:${id ?? asId(fallbackId, source) ?? createHash('sha256').update(raw).digest('hex')}`,
      time: iso(now),
      datacontenttype: 'application/json',
      ...given({ subject }),
    }
    const ownData = mapped && !wholeBody
    return prepareEvent(
      { ...attributes, data: ownData ? data : body, original: body },
      `${JSON.stringify(attributes).slice(0, -1)},"data":${ownData ? dataText : text},"original":${text}}`,
    )
  }

  return { map }
}

/** Returns the JSON of data; undefined if it nests too deep to be read again inside of an envelope. */
function* textOfData(data: unknown): Generator<void, string | undefined> {
  try {
    return yield* textSteps(data, MAX_DEPTH - 1)
  } catch (error) {
    if (error instanceof TooDeep) return undefined
    throw error
  }
}

const given = (values: Record<string, string | null>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== null))

/** Returns the event type; empty if it would be too long. The lengths are compared first: a part may be a megabyte. */
function typeOf(source: string, entity: string, action: string): string {
  if (!mayFit(entity + action, MAX_TYPE)) return ''
  const type = `com.${source}.${sanitised(entity)}.${sanitised(action)}`
  return type.length <= MAX_TYPE ? type : ''
}

/** Whether a text may have so few characters, by its UTF-16 units: a character has two at most. */
const mayFit = (text: string, characters: number): boolean => text.length <= 2 * characters

const sanitised = (part: string): string => part.toLowerCase().replace(/[^a-z0-9_-]/gu, '_')

/** Keeps an integer too long for a JavaScript number as it is, so that it leaves in the data as it came. */
const keepBigint = (whole: bigint): bigint => whole

const asName = (value: unknown): string | null => {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

/**
 * Returns an id that can be part of an event id, else null. A number of more than 64 bits, which JavaScript rounds, is
 * not an id: its neighbours would round to the same.
 */
function asId(value: unknown, source: string): string | null {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null
  if (typeof value !== 'string' || value === '' || !mayFit(value, MAX_EVENT_ID)) return null
  if (value.includes('\0') || !value.isWellFormed()) return null
  return source.length + 1 + [...value].length <= MAX_EVENT_ID ? value : null
}

const asSubject = (value: unknown): string | null =>
  typeof value === 'string' &&
  value !== '' &&
  mayFit(value, MAX_SUBJECT) &&
  !value.includes('\0') &&
  value.isWellFormed() &&
  [...value].length <= MAX_SUBJECT
    ? value
    : null
