// Arithmetic mixes int and double: if one side is a double, so is the result. Two ints are divided as in CEL, towards
// zero, so `data.n / 2` is 3 for 7 and 3.75 for 7.5; write `data.n / 2.0` for an exact quotient.
import type { ArithmeticOp } from './ast.ts'
import { addDurations, addToTimestamp, negated, timeBetween } from './time.ts'
import {
  double,
  Double,
  Duration,
  fail,
  int,
  MAX_INT,
  MAX_UINT,
  MIN_INT,
  overBudget,
  spend,
  spendChars,
  Timestamp,
  typeWord,
  Uint,
  type Context,
  type Result,
  type Value,
} from './values.ts'

type Numeric = number | bigint | Double | Uint

export function isNumeric(value: Value): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Double || value instanceof Uint
}

/** Returns the value to compare or calculate with. Numbers and bigints compare exactly with each other. */
export function plain(value: Numeric): number | bigint {
  if (value instanceof Double) return value.whole
  return value instanceof Uint ? value.unsigned : value
}

/** Converts to a double. A -0 in JSON is an int like any other whole number, and ints have no -0. */
export function asDouble(value: Numeric): number {
  return value instanceof Double ? value.whole : Number(plain(value)) + 0
}

function isInt(value: Numeric): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}

/** Applies an operator to any two values. */
export function calculate(c: Context, op: ArithmeticOp, a: Value, b: Value): Result {
  if (typeof a === 'number' && typeof b === 'number' && Number.isSafeInteger(a) && Number.isSafeInteger(b)) {
    const result = safeInts(c, op, a, b)
    if (result !== undefined) return result
  }
  if (isNumeric(a) && isNumeric(b)) return numbers(c, op, a, b)
  if (op === '+') {
    const sum = concatenate(c, a, b)
    if (sum !== undefined) return sum
  }
  if (op === '+' || op === '-') {
    const moved = shiftTime(op, a, b)
    if (typeof moved === 'string') return fail(c, moved)
    if (moved !== undefined) return moved
  }
  return fail(c, `'${op}' cannot be applied to ${typeWord(a)} and ${typeWord(b)}`)
}

/** Calculates with safe integers. Returns undefined if the result needs more than 53 bits. */
function safeInts(c: Context, op: ArithmeticOp, a: number, b: number): Result | undefined {
  let result: number
  switch (op) {
    case '+':
      result = a + b
      break
    case '-':
      result = a - b
      break
    case '*':
      // Adding zero turns -0 into 0: ints have no -0.
      result = a * b + 0
      break
    case '/':
      if (b === 0) return fail(c, 'division by zero')
      // The dividend is now a multiple of b, so the quotient is exact.
      return (a - (a % b)) / b + 0
    case '%':
      return b === 0 ? fail(c, 'modulo by zero') : (a % b) + 0
  }
  return Number.isSafeInteger(result) ? result : undefined
}

function numbers(c: Context, op: ArithmeticOp, a: Numeric, b: Numeric): Result {
  const unsigned = a instanceof Uint && b instanceof Uint
  if (!unsigned && !((isInt(a) || a instanceof Uint) && (isInt(b) || b instanceof Uint))) {
    return double(doubles(op, asDouble(a), asDouble(b)))
  }
  const x = BigInt(plain(a))
  const y = BigInt(plain(b))
  if (y === 0n && (op === '/' || op === '%')) return fail(c, `${op === '/' ? 'division' : 'modulo'} by zero`)
  const result = bigints(op, x, y)
  if (unsigned) return result < 0n || result > MAX_UINT ? fail(c, 'unsigned integer overflow') : new Uint(result)
  return result < MIN_INT || result > MAX_INT ? fail(c, 'integer overflow') : int(result)
}

function doubles(op: ArithmeticOp, a: number, b: number): number {
  switch (op) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '/':
      return a / b
    case '%':
      return a % b
  }
}

function bigints(op: ArithmeticOp, a: bigint, b: bigint): bigint {
  switch (op) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '/':
      return a / b
    case '%':
      return a % b
  }
}

/** Concatenates strings, bytes and lists. Paid for by the size of the result, so that doubling cannot fill memory. */
function concatenate(c: Context, a: Value, b: Value): Result | undefined {
  if (typeof a === 'string' && typeof b === 'string') {
    return spendChars(c, a.length + b.length) ? overBudget(c) : a + b
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return spend(c, a.length + b.length) ? overBudget(c) : (a.concat(b) as Value[])
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    if (spendChars(c, a.length + b.length)) return overBudget(c)
    const joined = new Uint8Array(a.length + b.length)
    joined.set(a)
    joined.set(b, a.length)
    return joined
  }
  return undefined
}

/** Returns a time, an error message, or undefined if the operands are not times. */
function shiftTime(op: '+' | '-', a: Value, b: Value): Timestamp | Duration | string | undefined {
  if (a instanceof Timestamp && b instanceof Timestamp) return op === '-' ? timeBetween(a, b) : undefined
  if (a instanceof Timestamp && b instanceof Duration) return addToTimestamp(a, op === '+' ? b : negated(b))
  if (a instanceof Duration && b instanceof Duration) return addDurations(a, op === '+' ? b : negated(b))
  if (a instanceof Duration && b instanceof Timestamp && op === '+') return addToTimestamp(b, a)
  return undefined
}

export function negate(c: Context, value: Value): Result {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 0 - value : -value
  if (value instanceof Double) return new Double(-value.whole)
  // -(2^63) is in range and its negation is not.
  if (typeof value === 'bigint') return value === MIN_INT ? fail(c, 'integer overflow') : int(-value)
  return fail(c, `'-' cannot be applied to ${typeWord(value)}`)
}
