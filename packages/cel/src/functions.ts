// The table of all functions, with the conversions between types and the parts of times. Each function charges the
// budget before it does the work.
import { mapSize } from './compare.ts'
import { matchesDynamic } from './regex.ts'
import { either, functionOf, method, type Definition, type Fn } from './definition.ts'
import { ENCODER_FUNCTIONS } from './encoders.ts'
import { quote } from './errors.ts'
import { FORMAT_FUNCTIONS } from './format.ts'
import { MATH_FUNCTIONS } from './math.ts'
import { NETWORK_FUNCTIONS } from './network.ts'
import { OPTIONAL_FUNCTIONS } from './optionals.ts'
import { SET_FUNCTIONS } from './sets.ts'
import { STRING_FUNCTIONS } from './string-functions.ts'
import { mistyped, stringSize } from './strings.ts'
import { scalarText } from './text.ts'
import { DATE_PARTS, DURATION_PARTS, localTime, parseDuration, parseTimestamp, timestamp } from './time.ts'
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

/** Every function by its name; a function of a namespace by its full name, such as `math.abs`. */
export const FUNCTIONS: ReadonlyMap<string, Definition> = new Map<string, Definition>([
  ...OPTIONAL_FUNCTIONS,
  ...STRING_FUNCTIONS,
  ...FORMAT_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...SET_FUNCTIONS,
  ...ENCODER_FUNCTIONS,
  ...NETWORK_FUNCTIONS,
  ['size', either(size, 1)],
  ['matches', either(matchesDynamic, 2)],
  ['int', functionOf(toInt, 1)],
  ['uint', functionOf(toUint, 1)],
  ['double', functionOf(toDouble, 1)],
  ['string', functionOf(toText, 1)],
  ['bytes', functionOf(toBytes, 1)],
  ['bool', functionOf(toBool, 1)],
  ['type', functionOf((_c, value) => new TypeValue(typeName(value)), 1)],
  ['dyn', functionOf((_c, value) => value, 1)],
  ['timestamp', functionOf(toTimestamp, 1)],
  ['duration', functionOf(toDuration, 1)],
  ...Object.keys(DATE_PARTS).map((name): [string, Definition] => [name, method(timePart(name), 1, 2)]),
])

function size(c: Context, value: Value): Result {
  if (typeof value === 'string') return stringSize(c, value)
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length
  if (value instanceof Map) return value.size
  return isRecord(value) ? mapSize(c, value) : mistyped(c, 'size', value)
}

const DECIMAL = /^[+-]?\d{1,20}$/
const LONGEST_DECIMAL = 21

function toInt(c: Context, value: Value): Result {
  if (typeof value === 'bigint') return value
  // Adding zero turns -0 into 0: ints have no -0.
  if (value instanceof Double) return value.whole + 0
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value + 0
    // 2^63 is out of range, and -2^63 is rejected with it. Every double between them is in range.
    return Math.abs(value) < 2 ** 63 ? int(BigInt(Math.trunc(value))) : fail(c, 'integer overflow')
  }
  if (value instanceof Uint) return value.unsigned <= MAX_INT ? int(value.unsigned) : fail(c, 'integer overflow')
  if (value instanceof Timestamp) return value.seconds
  if (typeof value !== 'string') return mistyped(c, 'int', value)
  if (value.length > LONGEST_DECIMAL || !DECIMAL.test(value)) return fail(c, `${quote(value)} is not an integer`)
  const parsed = BigInt(value.replace(/^\+/, ''))
  return parsed < MIN_INT || parsed > MAX_INT ? fail(c, 'integer overflow') : int(parsed)
}

function toUint(c: Context, value: Value): Result {
  if (value instanceof Uint) return value
  let whole: bigint
  if (typeof value === 'bigint') whole = value
  else if (value instanceof Double) whole = BigInt(value.whole)
  // A negative fraction is out of range although its whole part is 0.
  else if (typeof value === 'number' && Number.isFinite(value)) whole = BigInt(Math.floor(value))
  else if (typeof value === 'number') return fail(c, 'unsigned integer overflow')
  else if (typeof value !== 'string') return mistyped(c, 'uint', value)
  else if (value.length < LONGEST_DECIMAL && /^\d+$/.test(value)) whole = BigInt(value)
  else return fail(c, `${quote(value)} is not an unsigned integer`)
  return whole < 0n || whole > MAX_UINT ? fail(c, 'unsigned integer overflow') : new Uint(whole)
}

const FLOAT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

const NAMED_DOUBLES: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['+Infinity', Infinity],
  ['-Infinity', -Infinity],
])

function toDouble(c: Context, value: Value): Result {
  // Adding zero turns a -0 of an event into 0: it is an int, and ints have no -0.
  if (typeof value === 'number') return double(value + 0)
  if (value instanceof Double) return value
  if (typeof value === 'bigint') return double(Number(value))
  if (value instanceof Uint) return double(Number(value.unsigned))
  if (typeof value !== 'string') return mistyped(c, 'double', value)
  const named = NAMED_DOUBLES.get(value)
  if (named !== undefined) return named
  if (value.length > 100 || !FLOAT.test(value)) return fail(c, `${quote(value)} is not a number`)
  return double(Number(value))
}

function toText(c: Context, value: Value): Result {
  return scalarText(c, value) ?? mistyped(c, 'string', value)
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

/** The cost of the local time in a named zone: for another zone, whose formatter is created, and for the same again. */
const NEW_ZONE_STEPS = 5000
const ZONE_STEPS = 500
/** The cost of parsing a timestamp or a duration. */
const PARSE_STEPS = 60

function timePart(name: string): Fn {
  const ofDate = DATE_PARTS[name] as (local: Date) => number
  const ofDuration = DURATION_PARTS[name]
  return (c, time, zone) => {
    if (time instanceof Duration && ofDuration !== undefined && zone === undefined) return ofDuration(time)
    if (!(time instanceof Timestamp) || (zone !== undefined && typeof zone !== 'string')) {
      return mistyped(c, name, time, zone)
    }
    if (zone !== undefined && spend(c, zone === c.zone ? ZONE_STEPS : NEW_ZONE_STEPS)) return overBudget(c)
    const local = localTime(time, zone)
    if (typeof local === 'string') return fail(c, local)
    // An unknown zone has no formatter that could be used again, and costs as much each time.
    if (zone !== undefined) c.zone = zone
    return ofDate(local)
  }
}
