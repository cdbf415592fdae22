// Equality, order and membership of values, and the keys of maps. Everything that grows with its operands is paid for
// before it is done, except where the engine has to do it to know the price.
import type { OrderOp } from './ast.ts'
import { isNumeric, plain } from './arithmetic.ts'
import {
  Cidr,
  Duration,
  fail,
  FAULT,
  Ip,
  isRecord,
  keyOf,
  Optional,
  overBudget,
  spend,
  spendChars,
  Timestamp,
  TypeValue,
  typeWord,
  valueOfKey,
  type CelMap,
  type Context,
  type JsonObject,
  type Result,
  type Value,
} from './values.ts'

// Deeper than any event may nest. A deeper comparison counts as too much work, so that it cannot overflow the stack.
const MAX_COMPARED_DEPTH = 200

/**
 * CEL's equality: values of different types are unequal, which is not an error. If the steps run out, the result is
 * meaningless and the caller must not use it.
 */
export function equal(c: Context, a: Value, b: Value, depth = 0): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a === b
  if (typeof a === 'string' || typeof b === 'string') {
    if (typeof a !== 'string' || typeof b !== 'string' || a.length !== b.length) return false
    return !spendChars(c, a.length) && a === b
  }
  if (a === b) return true
  if (isNumeric(a)) return isNumeric(b) && equalNumbers(plain(a), plain(b))
  if (a === null || b === null || typeof a === 'boolean' || typeof b === 'boolean' || isNumeric(b)) return false
  if (spend(c, depth > MAX_COMPARED_DEPTH ? Infinity : 1)) return false
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(c, a as Value[], b as Value[], depth)
  if (a instanceof Timestamp || a instanceof Duration) {
    const sameType = a instanceof Timestamp ? b instanceof Timestamp : b instanceof Duration
    return sameType && a.seconds === (b as Timestamp).seconds && a.nanos === (b as Timestamp).nanos
  }
  if (a instanceof Optional) {
    if (!(b instanceof Optional) || a.held === undefined || b.held === undefined) {
      return b instanceof Optional && a.held === b.held
    }
    return equal(c, a.held, b.held, depth + 1)
  }
  if (a instanceof Ip) return b instanceof Ip && a.family === b.family && a.bits === b.bits
  if (a instanceof Cidr) return b instanceof Cidr && a.prefix === b.prefix && equal(c, a.ip, b.ip, depth)
  if (a instanceof TypeValue) return b instanceof TypeValue && a.typeName === b.typeName
  if (a instanceof Uint8Array) return b instanceof Uint8Array && !spendChars(c, a.length) && Buffer.compare(a, b) === 0
  return isMap(a) && isMap(b) && equalMaps(c, a, b, depth)
}

/** Compares number and bigint by value, which `===` does not. */
function equalNumbers(a: number | bigint, b: number | bigint): boolean {
  return a <= b && a >= b
}

function equalLists(c: Context, a: readonly Value[], b: readonly Value[], depth: number): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    if (spend(c, 1) || !equal(c, a[i] as Value, b[i] as Value, depth + 1)) return false
  }
  return true
}

type AnyMap = CelMap | JsonObject

export function isMap(value: Value): value is AnyMap {
  return value instanceof Map || isRecord(value)
}

function equalMaps(c: Context, a: AnyMap, b: AnyMap, depth: number): boolean {
  const keys = mapKeys(c, a)
  if (keys === FAULT || keys.length !== mapSize(c, b)) return false
  for (const key of keys) {
    const other = lookUp(b, key)
    if (other === undefined || spend(c, 1) || !equal(c, lookUp(a, key) as Value, other, depth + 1)) return false
  }
  return true
}

/**
 * The keys of large JSON objects. JavaScript has to list the keys of an object to count them, so the first time it is
 * done before it can be paid for. They are cached, so that this happens only once for an object. (Rejected: `for … in`,
 * left when the budget ends. V8 lists all keys before the first: 25,000 of 90,000 took as long as all of them.)
 */
const largeObjects = new WeakMap<object, readonly string[]>()
/** From about here on V8 keeps an object as a table, and listing a key takes 0.2 microseconds instead of 0.02. */
const LARGE = 100
const STEPS_PER_LARGE_KEY = 4
/** A key of a map that an expression made is read back from text, and written again to be looked up (`keyOf`). */
const STEPS_PER_MADE_KEY = 8

/** Returns the keys and pays for them. */
export function mapKeys(c: Context, map: AnyMap): readonly Value[] | typeof FAULT {
  if (map instanceof Map)
    return spend(c, map.size * STEPS_PER_MADE_KEY) ? overBudget(c) : Array.from((map as CelMap).keys(), valueOfKey)
  const keys = largeObjects.get(map) ?? Object.keys(map)
  if (keys.length <= LARGE) return spend(c, keys.length) ? overBudget(c) : keys
  largeObjects.set(map, keys)
  return spend(c, keys.length * STEPS_PER_LARGE_KEY) ? overBudget(c) : keys
}

/** Returns the number of keys and pays for counting them. */
export function mapSize(c: Context, map: AnyMap): number | typeof FAULT {
  if (map instanceof Map) return map.size
  const keys = mapKeys(c, map)
  return keys === FAULT ? FAULT : keys.length
}

/** Pays for looking up a key: a string has to be read, the first time. Returns false if the budget is spent. */
export function payKey(c: Context, key: Value): boolean {
  return typeof key !== 'string' || !spendChars(c, key.length)
}

/** Returns the value of a key in a map; undefined if there is none. */
export function lookUp(map: AnyMap, key: Value): Value | undefined {
  if (map instanceof Map) {
    const found = keyOf(key)
    return found === undefined ? undefined : (map as CelMap).get(found)
  }
  return typeof key === 'string' && Object.hasOwn(map, key) ? (map as JsonObject)[key] : undefined
}

/** The operator `in`: tests the elements of a list or the keys of a map. */
export function contains(c: Context, needle: Value, range: Value): Result {
  if (Array.isArray(range)) {
    for (const item of range as readonly Value[]) {
      if (spend(c, 1)) return overBudget(c)
      if (equal(c, needle, item)) return true
    }
    return c.stepsLeft < 0 ? overBudget(c) : false
  }
  if (isMap(range)) return payKey(c, needle) ? lookUp(range, needle) !== undefined : overBudget(c)
  return fail(c, `'in' needs a list or a map, not ${typeWord(range)}`)
}

/** Applies an ordering operator to any two values. The common cases are decided before it is called. */
export function order(c: Context, op: OrderOp, a: Value, b: Value): Result {
  if (isNumeric(a) && isNumeric(b)) return holds(op, plain(a), plain(b))
  const sign = comparison(c, a, b)
  if (c.stepsLeft < 0) return overBudget(c)
  if (sign === FAULT) return fail(c, `'${op}' cannot be applied to ${typeWord(a)} and ${typeWord(b)}`)
  return holds(op, sign, 0)
}

/** Compares the values rather than a sign, because every comparison with NaN is false. */
function holds(op: OrderOp, a: number | bigint, b: number | bigint): boolean {
  switch (op) {
    case '<':
      return a < b
    case '<=':
      return a <= b
    case '>':
      return a > b
    case '>=':
      return a >= b
  }
}

function comparison(c: Context, a: Value, b: Value): number | typeof FAULT {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(c, a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if ((a instanceof Timestamp && b instanceof Timestamp) || (a instanceof Duration && b instanceof Duration)) {
    return a.seconds - b.seconds || a.nanos - b.nanos
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return spendChars(c, Math.min(a.length, b.length)) ? FAULT : Buffer.compare(a, b)
  }
  return FAULT
}

/** Compares by code points, as CEL requires. JavaScript compares by UTF-16 units, which differs beyond U+FFFF. */
function compareStrings(c: Context, a: string, b: string): number | typeof FAULT {
  const length = Math.min(a.length, b.length)
  if (spendChars(c, length)) return FAULT
  let i = 0
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++
  if (i === length) return a.length - b.length
  const x = a.charCodeAt(i)
  const y = b.charCodeAt(i)
  const surrogateX = (x & 0xf800) === 0xd800
  const surrogateY = (y & 0xf800) === 0xd800
  if (surrogateX !== surrogateY) return surrogateX ? 1 : -1
  return x - y
}
