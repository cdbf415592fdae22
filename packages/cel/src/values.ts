// The values of expressions. JSON values are used as they are, without copying or wrapping:
//
//   int        a number that is a safe integer (|n| < 2^53), or a bigint for the rest of int64
//   double     any other number, or a Double around a whole value
//   uint       a Uint
//   map        a JSON object (own properties only), or a Map made by the expression
//   the rest   null, boolean, string, array, Uint8Array, Timestamp, Duration, Optional, Ip, Cidr, TypeValue
//
// JSON has one kind of number, so a whole number in an event counts as an int whether it was written 7 or 7.0.
// A number beyond 2^53 was rounded when it was parsed and counts as a double. Each int has exactly one representation:
// a number if that is exact, a bigint otherwise. Arithmetic that leaves int64 is an error, as CEL requires.

/** A double whose value is a safe integer, such as the literal `2.0`: a bare number would count as an int. */
export class Double {
  readonly whole: number
  constructor(whole: number) {
    this.whole = whole
  }
}

export class Uint {
  readonly unsigned: bigint
  constructor(unsigned: bigint) {
    this.unsigned = unsigned
  }
}

/** A point in time: seconds since 1970 plus 0..999,999,999 nanoseconds. */
export class Timestamp {
  readonly seconds: number
  readonly nanos: number
  constructor(seconds: number, nanos: number) {
    this.seconds = seconds
    this.nanos = nanos
  }
}

/** A span of time: seconds, possibly negative, plus 0..999,999,999 nanoseconds. */
export class Duration {
  readonly seconds: number
  readonly nanos: number
  constructor(seconds: number, nanos: number) {
    this.seconds = seconds
    this.nanos = nanos
  }
}

/** A value or none: the result of `a.?b`. */
export class Optional {
  readonly held: Value | undefined
  constructor(held: Value | undefined) {
    this.held = held
  }
}
export const NONE = new Optional(undefined)

export class Ip {
  readonly family: 4 | 6
  readonly bits: bigint
  constructor(family: 4 | 6, bits: bigint) {
    this.family = family
    this.bits = bits
  }
}

/** A range of IP addresses: an address, and how many leading bits all addresses share. */
export class Cidr {
  readonly ip: Ip
  readonly prefix: number
  constructor(ip: Ip, prefix: number) {
    this.ip = ip
    this.prefix = prefix
  }
}

export class TypeValue {
  readonly typeName: string
  constructor(typeName: string) {
    this.typeName = typeName
  }
}

/** What a Map made by the expression is keyed by: see `keyOf`. */
export type Key = string | boolean
export interface JsonObject {
  readonly [key: string]: Value
}
export type CelMap = ReadonlyMap<Key, Value>
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Double
  | Uint
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | Ip
  | Cidr
  | Uint8Array
  | readonly Value[]
  | CelMap
  | JsonObject

/**
 * Returned instead of a value after an error; the message is in `Context.fault`. One shared symbol rather than a new
 * object each time, because a missing field is the everyday case of a filter that does not match.
 */
export const FAULT: unique symbol = Symbol('fault')
export type Result = Value | typeof FAULT

/** The state of one evaluation: its variables, its fault and its remaining steps. */
export interface Context {
  /** The roots first, then one for each comprehension variable; undefined if a variable has no value. */
  readonly vars: (Value | undefined)[]
  fault: string
  stepsLeft: number
  /** The number of this evaluation, for work that is paid for once per evaluation. */
  round: number
  /** The last regular expression from the event: using it again costs less. */
  pattern: string | null
  /** The last time zone, for the same reason. */
  zone: string | null
}

export type Run = (c: Context) => Result

/** About 10 ns each: one evaluation may take about a millisecond. */
export const STEP_BUDGET = 100_000
/** Characters that a native string operation reads or writes in one step. */
const CHARS_PER_STEP = 16

export function fail(c: Context, message: string): typeof FAULT {
  c.fault = message
  return FAULT
}

/**
 * Takes steps before the work is done. Returns true if they ran out, and then the caller must not do the work. Prices
 * are computed without bit operations, which would turn those beyond 2^31 negative.
 */
export function spend(c: Context, steps: number): boolean {
  c.stepsLeft -= steps
  return c.stepsLeft < 0
}

export function spendChars(c: Context, chars: number): boolean {
  c.stepsLeft -= Math.floor(chars / CHARS_PER_STEP) + 1
  return c.stepsLeft < 0
}

export function overBudget(c: Context): typeof FAULT {
  return fail(c, 'the expression takes too much work')
}

/** Returns a double in the representation that distinguishes it from an int. */
export function double(value: number): number | Double {
  return Number.isSafeInteger(value) ? new Double(value) : value
}

/** Returns an int in its only representation. The caller has checked that it is within int64. */
export function int(value: bigint): number | bigint {
  return value >= MIN_SAFE && value <= MAX_SAFE ? Number(value) : value
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const MIN_SAFE = -MAX_SAFE

/** Returns an int or a uint as a bigint; null for anything else. */
export function wholeOf(value: unknown): bigint | null {
  if (value instanceof Uint) return value.unsigned
  if (typeof value === 'bigint') return value
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null
}

export const MAX_INT = 2n ** 63n - 1n
export const MIN_INT = -(2n ** 63n)
export const MAX_UINT = 2n ** 64n - 1n

/** Reports whether a value is a JSON object. The classes of this module have their own prototypes. */
export function isRecord(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Returns the key of a value in a Map, so that 1, 1u and 1.0 are one key; undefined for a value that cannot be a key. A
 * number is written as text, with a mark before it: V8 hashes numbers without a secret seed, and an event could choose
 * ten thousand that all collide.
 */
export function keyOf(value: Value): Key | undefined {
  if (typeof value === 'string') return value.startsWith(NUMBER_MARK) ? NUMBER_MARK + value : value
  if (typeof value === 'boolean') return value
  if (typeof value === 'bigint') return NUMBER_MARK + String(value)
  if (typeof value === 'number') {
    // A huge double and the int literal of the same value are equal, so they must be one key.
    const isHuge = Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 2 ** 64
    return NUMBER_MARK + String(isHuge ? BigInt(value) : value)
  }
  if (value instanceof Double) return NUMBER_MARK + String(value.whole)
  if (value instanceof Uint) return NUMBER_MARK + String(value.unsigned)
  return undefined
}

const NUMBER_MARK = '#'

/** Returns the value that a key of a Map stands for. */
export function valueOfKey(key: Key): string | boolean | number | bigint {
  if (typeof key === 'boolean' || !key.startsWith(NUMBER_MARK)) return key
  if (key.startsWith(NUMBER_MARK, 1)) return key.slice(1)
  const number = Number(key.slice(1))
  return Number.isSafeInteger(number) ? number : BigInt(key.slice(1))
}

export function typeName(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return Number.isSafeInteger(value) ? 'int' : 'double'
  }
  if (value === null) return 'null_type'
  if (Array.isArray(value)) return 'list'
  if (value instanceof Double) return 'double'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Timestamp) return TIMESTAMP_TYPE
  if (value instanceof Duration) return DURATION_TYPE
  if (value instanceof TypeValue) return 'type'
  if (value instanceof Optional) return OPTIONAL_TYPE
  if (value instanceof Ip) return 'net.IP'
  if (value instanceof Cidr) return 'net.CIDR'
  if (value instanceof Uint8Array) return 'bytes'
  return 'map'
}

const TIMESTAMP_TYPE = 'google.protobuf.Timestamp'
const DURATION_TYPE = 'google.protobuf.Duration'
const OPTIONAL_TYPE = 'optional_type'

/** The names of types in expressions. */
export const TYPE_NAMES: ReadonlySet<string> = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
  TIMESTAMP_TYPE,
  DURATION_TYPE,
  OPTIONAL_TYPE,
  'net.IP',
  'net.CIDR',
])

/** Returns the type for an error message: `null` instead of `null_type`, `timestamp` instead of a message name. */
export function typeWord(value: Value): string {
  const name = typeName(value)
  if (name === 'null_type') return 'null'
  if (name === TIMESTAMP_TYPE) return 'timestamp'
  if (name === OPTIONAL_TYPE) return 'optional'
  return name === DURATION_TYPE ? 'duration' : name
}
