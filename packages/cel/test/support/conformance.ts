// The official suite of CEL, read from the package that contains it, and our values in its notation.
import { tests as suite } from '@bufbuild/cel-spec/testdata/conformance.js'
import { compile, ERROR, OVER_BUDGET, type Value as PublicValue } from '../../src/index.ts'
import {
  double,
  Double,
  Duration,
  int,
  keyOf,
  Optional,
  Timestamp,
  typeName,
  TypeValue,
  Uint,
  valueOfKey,
  type Key,
  type Value,
} from '../../src/values.ts'

type Json = Record<string, unknown>

interface Original {
  name?: string
  expr: string
  value?: Json
  typedResult?: { result?: Json }
  evalError?: Json
  bindings?: Record<string, { value: Json }>
  container?: string
  typeEnv?: { name: string }[]
}

export interface Case {
  /** `suite/section/name`. */
  readonly id: string
  readonly source: string
  readonly original: Original
}

interface Suite {
  name: string
  suites?: Suite[]
  tests?: { original: Original }[]
}

export const cases: readonly Case[] = (suite as unknown as Suite).suites!.flatMap((file) =>
  (file.suites ?? []).flatMap((section) =>
    (section.tests ?? []).map(({ original }) => ({
      id: `${file.name}/${section.name}/${original.name}`,
      source: original.expr,
      original,
    })),
  ),
)

/** Converts a value of the suite to one of ours; undefined for a message. */
function fromSuite(json: Json): Value | undefined {
  const [kind, value] = Object.entries(json)[0] as [string, never]
  switch (kind) {
    case 'nullValue':
      return null
    case 'boolValue':
    case 'stringValue':
      return value
    case 'int64Value':
      return int(BigInt(value))
    case 'uint64Value':
      return new Uint(BigInt(value))
    case 'doubleValue':
      return double(Number(value))
    case 'bytesValue':
      return new Uint8Array(Buffer.from(value, 'base64'))
    case 'typeValue':
      return new TypeValue(value)
    case 'listValue':
      return ((value as Json)['values'] as Json[] | undefined)?.map((item) => fromSuite(item) as Value) ?? []
    case 'mapValue':
      return new Map(
        (((value as Json)['entries'] as { key: Json; value: Json }[] | undefined) ?? []).map((entry) => [
          keyOf(fromSuite(entry.key) as Value) as Key,
          fromSuite(entry.value) as Value,
        ]),
      )
    case 'objectValue':
      return fromMessage(value)
    default:
      return undefined
  }
}

function fromMessage(message: Json): Value | undefined {
  const type = String(message['@type'])
  const text = String(message['value'])
  if (type.endsWith('google.protobuf.Timestamp')) return run('timestamp(t)', { t: text }) as Value
  if (type.endsWith('google.protobuf.Duration')) return run('duration(t)', { t: text }) as Value
  return undefined
}

function run(source: string, bindings: Record<string, Value>): PublicValue | typeof ERROR | typeof OVER_BUDGET {
  return compile(source, { variables: Object.keys(bindings) }).evaluate(Object.values(bindings))
}

/** The value as text with its types, so that 1, 1u and 1.0 differ. */
export function shown(value: Value): string {
  if (value instanceof Map) {
    return `{${[...value]
      .map(([key, item]) => `${shown(valueOfKey(key as Key))}: ${shown(item as Value)}`)
      .sort()
      .join(', ')}}`
  }
  if (Array.isArray(value)) return `[${(value as Value[]).map(shown).join(', ')}]`
  const type = typeName(value)
  if (value instanceof Double) return `double ${value.whole}`
  if (value instanceof Uint) return `uint ${value.unsigned}`
  if (value instanceof TypeValue) return `type ${value.typeName}`
  if (value instanceof Optional) return `optional ${value.held === undefined ? '' : shown(value.held)}`
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`
  if (value instanceof Timestamp || value instanceof Duration) return `${type} ${value.seconds}.${value.nanos}`
  return `${type} ${String(value)}`
}

/** Returns what is wrong with our result, or null. */
export function verdict({ source, original }: Case): string | null {
  const bindings = Object.fromEntries(
    Object.entries(original.bindings ?? {}).map(([name, { value }]) => [name, fromSuite(value)]),
  )
  const wanted = original.value ?? original.typedResult?.result ?? { boolValue: true }
  let result: ReturnType<typeof run>
  try {
    result = run(source, bindings as Record<string, Value>)
  } catch (error) {
    return original.evalError === undefined ? (error as Error).message : null
  }
  if (original.evalError !== undefined) {
    return result === ERROR ? null : `no error but ${result === OVER_BUDGET ? 'over budget' : shown(result)}`
  }
  const expected = fromSuite(wanted)
  if (expected === undefined) return `expects the message ${JSON.stringify(wanted)}`
  if (result === ERROR || result === OVER_BUDGET) return `${String(result)} instead of ${shown(expected)}`
  return shown(result) === shown(expected) ? null : `${shown(result)} instead of ${shown(expected)}`
}
