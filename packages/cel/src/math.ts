// `math.*`. JSON has one kind of number, so `math.ceil` and similar functions also accept a whole number and return it.
import { asDouble, isNumeric, plain } from './arithmetic.ts'
import { functionOf, variadic, type Definitions, type Fn } from './definition.ts'
import { mistyped, wholeNumber } from './strings.ts'
import {
  double,
  Double,
  fail,
  int,
  MIN_INT,
  overBudget,
  spend,
  Uint,
  wholeOf,
  type Context,
  type Result,
  type Value,
} from './values.ts'

function extreme(name: string, better: (a: number | bigint, b: number | bigint) => boolean): Fn {
  return (c, given) => {
    const values = Array.isArray(given) ? (given as readonly Value[]) : [given]
    if (spend(c, values.length)) return overBudget(c)
    if (values.length === 0) return fail(c, `${name}() needs a number`)
    let best: Value = values[0] as Value
    for (const value of values) {
      if (!isNumeric(value) || !isNumeric(best)) return mistyped(c, name, value)
      if (better(plain(value), plain(best))) best = value
    }
    return best
  }
}

function rounding(name: string, round: (value: number) => number): Fn {
  return (c, value) => {
    if (typeof value === 'number') return Number.isSafeInteger(value) ? value : double(round(value))
    return value instanceof Double ? value : mistyped(c, name, value)
  }
}

/** Rounds half away from zero, as CEL requires. Adding 0.5 would round the last number below 0.5 up. */
function roundHalfAway(value: number): number {
  const whole = Math.trunc(value)
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole
}

function abs(c: Context, value: Value): Result {
  if (typeof value === 'number') return Math.abs(value)
  if (value instanceof Double) return new Double(Math.abs(value.whole))
  if (value instanceof Uint) return value
  if (typeof value !== 'bigint') return mistyped(c, 'math.abs', value)
  return value === MIN_INT ? fail(c, 'integer overflow') : int(value < 0n ? -value : value)
}

function sign(c: Context, value: Value): Result {
  if (!isNumeric(value)) return mistyped(c, 'math.sign', value)
  const number = plain(value)
  const result = number > 0 ? 1 : number < 0 ? -1 : 0
  if (value instanceof Uint) return new Uint(BigInt(result))
  const whole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
  return whole ? result : double(Number.isNaN(number) ? Number.NaN : result)
}

function sqrt(c: Context, value: Value): Result {
  return isNumeric(value) ? double(Math.sqrt(asDouble(value))) : mistyped(c, 'math.sqrt', value)
}

function test(name: string, holds: (value: number) => boolean): Fn {
  return (c, value) => {
    if (typeof value === 'number') return holds(value)
    return value instanceof Double ? holds(value.whole) : mistyped(c, name, value)
  }
}

const from = (bitsOf: bigint, unsigned: boolean): Value =>
  unsigned ? new Uint(BigInt.asUintN(64, bitsOf)) : int(BigInt.asIntN(64, bitsOf))

function bitwise(name: string, combine: (a: bigint, b: bigint) => bigint): Fn {
  return (c, a, b) => {
    const [x, y] = [wholeOf(a), wholeOf(b)]
    if (x === null || y === null || a instanceof Uint !== b instanceof Uint) return mistyped(c, name, a, b)
    return from(combine(x, y), a instanceof Uint)
  }
}

function bitNot(c: Context, value: Value): Result {
  const found = wholeOf(value)
  return found === null ? mistyped(c, 'math.bitNot', value) : from(~found, value instanceof Uint)
}

/** A logical shift: bits that are shifted out are lost and zeros are shifted in, whatever the sign. */
function shift(name: string, move: (value: bigint, by: bigint) => bigint): Fn {
  return (c, value, by) => {
    const [found, offset] = [wholeOf(value), wholeNumber(by)]
    if (found === null || offset === null) return mistyped(c, name, value, by)
    if (offset < 0) return fail(c, `${name}() has a negative offset`)
    const unsigned = value instanceof Uint
    return offset >= 64 ? from(0n, unsigned) : from(move(BigInt.asUintN(64, found), BigInt(offset)), unsigned)
  }
}

export const MATH_FUNCTIONS: Definitions = [
  ['math.greatest', variadic(extreme('math.greatest', (a, b) => a > b))],
  ['math.least', variadic(extreme('math.least', (a, b) => a < b))],
  ['math.ceil', functionOf(rounding('math.ceil', Math.ceil), 1)],
  ['math.floor', functionOf(rounding('math.floor', Math.floor), 1)],
  ['math.round', functionOf(rounding('math.round', roundHalfAway), 1)],
  ['math.trunc', functionOf(rounding('math.trunc', Math.trunc), 1)],
  ['math.abs', functionOf(abs, 1)],
  ['math.sign', functionOf(sign, 1)],
  ['math.sqrt', functionOf(sqrt, 1)],
  ['math.isNaN', functionOf(test('math.isNaN', Number.isNaN), 1)],
  [
    'math.isInf',
    functionOf(
      test('math.isInf', (x) => x === Infinity || x === -Infinity),
      1,
    ),
  ],
  ['math.isFinite', functionOf(test('math.isFinite', Number.isFinite), 1)],
  [
    'math.bitAnd',
    functionOf(
      bitwise('math.bitAnd', (a, b) => a & b),
      2,
    ),
  ],
  [
    'math.bitOr',
    functionOf(
      bitwise('math.bitOr', (a, b) => a | b),
      2,
    ),
  ],
  [
    'math.bitXor',
    functionOf(
      bitwise('math.bitXor', (a, b) => a ^ b),
      2,
    ),
  ],
  ['math.bitNot', functionOf(bitNot, 1)],
  [
    'math.bitShiftLeft',
    functionOf(
      shift('math.bitShiftLeft', (value, by) => value << by),
      2,
    ),
  ],
  [
    'math.bitShiftRight',
    functionOf(
      shift('math.bitShiftRight', (value, by) => value >> by),
      2,
    ),
  ],
]
