// Functions of optionals, which hold a value or none: `optional.of`, `hasValue` and the like.
import { mapSize } from './compare.ts'
import { functionOf, method, type Definitions } from './definition.ts'
import { mistyped } from './strings.ts'
import {
  Double,
  Duration,
  fail,
  FAULT,
  isRecord,
  NONE,
  Optional,
  overBudget,
  spend,
  Uint,
  type Context,
  type Result,
  type Value,
} from './values.ts'

/** Reports whether `optional.ofNonZeroValue` treats a value as none. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return true
  if (value instanceof Double) return value.whole === 0
  if (value instanceof Uint) return value.unsigned === 0n
  if (value instanceof Duration) return value.seconds === 0 && value.nanos === 0
  if (value instanceof Map) return value.size === 0
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0
  return false
}

function ofNonZeroValue(c: Context, value: Value): Result {
  const size = isRecord(value) ? mapSize(c, value) : null
  if (size === FAULT) return FAULT
  return size === 0 || isZero(value) ? NONE : new Optional(value)
}

function unwrap(c: Context, list: Value): Result {
  if (!Array.isArray(list)) return mistyped(c, 'unwrap', list)
  if (spend(c, list.length)) return overBudget(c)
  const made: Value[] = []
  for (const item of list as readonly Value[]) {
    if (!(item instanceof Optional)) return mistyped(c, 'unwrap', item)
    if (item.held !== undefined) made.push(item.held)
  }
  return made
}

function hasValue(c: Context, value: Value): Result {
  return value instanceof Optional ? value.held !== undefined : mistyped(c, 'hasValue', value)
}

function heldValue(c: Context, value: Value): Result {
  if (!(value instanceof Optional)) return mistyped(c, 'value', value)
  return value.held === undefined ? fail(c, 'the optional has no value') : value.held
}

/** The compiler implements `or` and `orValue`, because they evaluate their argument only if it is needed. */
const alternative = method((c, value) => mistyped(c, 'or', value), 2)

export const OPTIONAL_FUNCTIONS: Definitions = [
  ['optional.of', functionOf((_c, value) => new Optional(value), 1)],
  ['optional.ofNonZeroValue', functionOf(ofNonZeroValue, 1)],
  ['optional.none', functionOf(() => NONE, 0)],
  ['optional.unwrap', functionOf(unwrap, 1)],
  ['unwrapOpt', method(unwrap, 1)],
  ['hasValue', method(hasValue, 1)],
  ['value', method(heldValue, 1)],
  ['or', alternative],
  ['orValue', alternative],
]
