import { mapSize } from './compare.ts'
import { matchesDynamic } from './regex.ts'
import {
  containsText,
  endsWith,
  indexOf,
  join,
  lowerAscii,
  mistyped,
  replace,
  split,
  startsWith,
  stringSize,
  substring,
  trim,
  upperAscii,
} from './strings.ts'
import {
  DATE_PARTS,
  DURATION_PARTS,
  formatDuration,
  formatTimestamp,
  localTime,
  parseDuration,
  parseTimestamp,
  quote,
  timestamp,
} from './time.ts'
import {
  double,
  Double,
  Duration,
  fail,
  int,
  isRecord,
  MAX_INT,
  MAX_UINT,
  MIN_INT,
  overBudget,
  spend,
  spendChars,
  Timestamp,
  typeName,
  TypeValue,
  Uint,
  type Context,
  type Result,
  type Value,
} from './values.ts'

type Arg = Value | undefined
export type Fn = (c: Context, a: Value, b: Arg, d: Arg, e: Arg) => Result

export interface Definition {
  readonly call: Fn
  /** How many arguments, the target of a method counted as the first. */
  readonly least: number
  readonly most: number
  /** Written `f(x)`. */
  readonly asFunction: boolean
  /** Written `x.f()`. */
  readonly asMethod: boolean
}

const functionOnly = (call: Fn): Definition => ({ call, least: 1, most: 1, asFunction: true, asMethod: false })
const method = (call: Fn, least: number, most = least): Definition => ({
  call,
  least,
  most,
  asFunction: false,
  asMethod: true,
})
const either = (call: Fn, arity: number): Definition => ({
  call,
  least: arity,
  most: arity,
  asFunction: true,
  asMethod: true,
})

export const FUNCTIONS: ReadonlyMap<string, Definition> = new Map<string, Definition>([
  ['size', either(size, 1)],
  ['matches', either(matchesDynamic, 2)],
  ['startsWith', method(startsWith, 2)],
  ['endsWith', method(endsWith, 2)],
  ['contains', method(containsText, 2)],
  ['lowerAscii', method(lowerAscii, 1)],
  ['upperAscii', method(upperAscii, 1)],
  ['trim', method(trim, 1)],
  ['replace', method(replace, 3, 4)],
  ['split', method(split, 2, 3)],
  ['join', method(join, 1, 2)],
  ['substring', method(substring, 2, 3)],
  ['indexOf', method(indexOf, 2, 3)],
  ['int', functionOnly(toInt)],
  ['uint', functionOnly(toUint)],
  ['double', functionOnly(toDouble)],
  ['string', functionOnly(toText)],
  ['bytes', functionOnly(toBytes)],
  ['bool', functionOnly(toBool)],
  ['type', functionOnly((_c, value) => new TypeValue(typeName(value)))],
  ['dyn', functionOnly((_c, value) => value)],
  ['timestamp', functionOnly(toTimestamp)],
  ['duration', functionOnly(toDuration)],
  ...Object.keys(DATE_PARTS).map((name): [string, Definition] => [name, method(timePart(name), 1, 2)]),
])

function size(c: Context, value: Value): Result {
  if (typeof value === 'string') return stringSize(c, value)
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length
  if (value instanceof Map) return value.size
  return isRecord(value) ? mapSize(c, value) : mistyped(c, 'size', value)
}

const DECIMAL = /^[+-]?\d{1,20}$/

function toInt(c: Context, value: Value): Result {
  if (typeof value === 'bigint') return value
  if (value instanceof Double) return value.whole
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value
    // The ends themselves are not doubles; the nearest doubles inside are.
    return Math.abs(value) < 2 ** 63 ? int(BigInt(Math.trunc(value))) : fail(c, 'integer overflow')
  }
  if (value instanceof Uint) return value.unsigned <= MAX_INT ? int(value.unsigned) : fail(c, 'integer overflow')
  if (value instanceof Timestamp) return value.seconds
  if (typeof value !== 'string') return mistyped(c, 'int', value)
  if (!DECIMAL.test(value)) return fail(c, `${quote(value)} is not an integer`)
  const parsed = BigInt(value.replace(/^\+/, ''))
  return parsed < MIN_INT || parsed > MAX_INT ? fail(c, 'integer overflow') : int(parsed)
}

function toUint(c: Context, value: Value): Result {
  if (value instanceof Uint) return value
  let whole: bigint
  if (typeof value === 'bigint') whole = value
  else if (value instanceof Double) whole = BigInt(value.whole)
  else if (typeof value === 'number' && Number.isFinite(value)) whole = BigInt(Math.trunc(value))
  else if (typeof value === 'number') return fail(c, 'unsigned integer overflow')
  else if (typeof value !== 'string') return mistyped(c, 'uint', value)
  else if (/^\d{1,20}$/.test(value)) whole = BigInt(value)
  else return fail(c, `${quote(value)} is not an unsigned integer`)
  return whole < 0n || whole > MAX_UINT ? fail(c, 'unsigned integer overflow') : new Uint(whole)
}

const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

function toDouble(c: Context, value: Value): Result {
  if (typeof value === 'number') return double(value)
  if (value instanceof Double) return value
  if (typeof value === 'bigint') return double(Number(value))
  if (value instanceof Uint) return double(Number(value.unsigned))
  if (typeof value !== 'string') return mistyped(c, 'double', value)
  if (value.length > 100 || !FLOAT.test(value)) return fail(c, `${quote(value)} is not a number`)
  return double(Number(value))
}

function toText(c: Context, value: Value): Result {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (value instanceof Double) return String(value.whole)
  if (value instanceof Uint) return String(value.unsigned)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (!(value instanceof Uint8Array)) return mistyped(c, 'string', value)
  if (spendChars(c, value.length)) return overBudget(c)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
  } catch {
    return fail(c, 'the bytes are not UTF-8')
  }
}

function toBytes(c: Context, value: Value): Result {
  if (value instanceof Uint8Array) return value
  if (typeof value !== 'string') return mistyped(c, 'bytes', value)
  return spendChars(c, value.length * 2) ? overBudget(c) : new TextEncoder().encode(value)
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

function toBool(c: Context, value: Value): Result {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return mistyped(c, 'bool', value)
  if (TRUE.has(value)) return true
  return FALSE.has(value) ? false : fail(c, `${quote(value)} is not a boolean`)
}

function toTimestamp(c: Context, value: Value): Result {
  if (value instanceof Timestamp) return value
  if (typeof value !== 'string' && !Number.isSafeInteger(value)) return mistyped(c, 'timestamp', value)
  if (spend(c, PARSE_STEPS)) return overBudget(c)
  const time = typeof value === 'string' ? parseTimestamp(value) : timestamp(value as number, 0)
  return typeof time === 'string' ? fail(c, time) : time
}

function toDuration(c: Context, value: Value): Result {
  if (value instanceof Duration) return value
  if (typeof value !== 'string') return mistyped(c, 'duration', value)
  if (spend(c, PARSE_STEPS)) return overBudget(c)
  const span = parseDuration(value)
  return typeof span === 'string' ? fail(c, span) : span
}

/** What finding the local time of a named zone takes: its calendar has to be made ready, and then asked. */
const NEW_ZONE_STEPS = 5000
const ZONE_STEPS = 500
/** What reading a date or a span takes. */
const PARSE_STEPS = 60

function timePart(name: string): Fn {
  const ofDate = DATE_PARTS[name] as (local: Date) => number
  const ofDuration = DURATION_PARTS[name]
  return (c, time, zone) => {
    if (time instanceof Duration && ofDuration !== undefined && zone === undefined) return ofDuration(time)
    if (!(time instanceof Timestamp) || (zone !== undefined && typeof zone !== 'string')) {
      return mistyped(c, name, time, zone)
    }
    if (zone !== undefined) {
      if (spend(c, zone === c.zone ? ZONE_STEPS : NEW_ZONE_STEPS)) return overBudget(c)
      c.zone = zone
    }
    const local = localTime(time, zone)
    return typeof local === 'string' ? fail(c, local) : ofDate(local)
  }
}
