// Each operator as a closure over its operands. Common pairs of types are handled in place; every other pair is left to
// the general functions.
import { calculate, isNumeric, negate, plain } from './arithmetic.ts'
import type { ArithmeticOp, OrderOp, UnaryOp } from './ast.ts'
import { contains, equal, order } from './compare.ts'
import {
  fail,
  FAULT,
  overBudget,
  spendChars,
  typeWord,
  type Context,
  type Result,
  type Run,
  type Value,
} from './values.ts'

export function orderRun(op: OrderOp, left: Run, right: Run): Run {
  // One closure per operator, rather than one that tests `op`: this is the innermost loop of routing.
  switch (op) {
    case '<':
      return (c) => {
        const a = left(c)
        if (a === FAULT) return FAULT
        const b = right(c)
        if (b === FAULT) return FAULT
        return typeof a === 'number' && typeof b === 'number' ? a < b : order(c, '<', a, b)
      }
    case '<=':
      return (c) => {
        const a = left(c)
        if (a === FAULT) return FAULT
        const b = right(c)
        if (b === FAULT) return FAULT
        return typeof a === 'number' && typeof b === 'number' ? a <= b : order(c, '<=', a, b)
      }
    case '>':
      return (c) => {
        const a = left(c)
        if (a === FAULT) return FAULT
        const b = right(c)
        if (b === FAULT) return FAULT
        return typeof a === 'number' && typeof b === 'number' ? a > b : order(c, '>', a, b)
      }
    case '>=':
      return (c) => {
        const a = left(c)
        if (a === FAULT) return FAULT
        const b = right(c)
        if (b === FAULT) return FAULT
        return typeof a === 'number' && typeof b === 'number' ? a >= b : order(c, '>=', a, b)
      }
  }
}

export function equalRun(left: Run, right: Run, wanted: boolean): Run {
  return (c) => {
    const a = left(c)
    if (a === FAULT) return FAULT
    const b = right(c)
    if (b === FAULT) return FAULT
    const same = equal(c, a, b)
    return c.stepsLeft < 0 ? overBudget(c) : same === wanted
  }
}

/** A string that is not longer than this is compared at no extra cost. */
const SHORT_TEXT = 64

/** Compares with a constant string of the expression. */
export function equalTextRun(operand: Run, text: string, wanted: boolean): Run {
  if (text.length <= SHORT_TEXT) {
    return (c) => {
      const a = operand(c)
      return a === FAULT ? FAULT : (a === text) === wanted
    }
  }
  return (c) => {
    const a = operand(c)
    if (a === FAULT) return FAULT
    if (typeof a === 'string' && a.length === text.length && spendChars(c, a.length)) return overBudget(c)
    return (a === text) === wanted
  }
}

export function arithmeticRun(op: ArithmeticOp, left: Run, right: Run): Run {
  return (c) => {
    const a = left(c)
    if (a === FAULT) return FAULT
    const b = right(c)
    if (b === FAULT) return FAULT
    return calculate(c, op, a, b)
  }
}

export function inRun(left: Run, right: Run): Run {
  return (c) => {
    const a = left(c)
    if (a === FAULT) return FAULT
    const b = right(c)
    if (b === FAULT) return FAULT
    return contains(c, a, b)
  }
}

/** Compiles `in` a list of constants to one lookup. Returns null unless all are numbers, strings or booleans. */
export function inConstantsRun(left: Run, items: readonly Value[]): Run | null {
  const others = new Set<Value>()
  const numbers: (number | bigint)[] = []
  let longest = 0
  for (const item of items) {
    if (isNumeric(item)) numbers.push(plain(item))
    else if (typeof item === 'string' || typeof item === 'boolean') others.add(item)
    else return null
    if (typeof item === 'string' && item.length > longest) longest = item.length
  }
  // Nothing equals NaN.
  const sorted = numbers.filter((number) => !Number.isNaN(number)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return (c) => {
    const a = left(c)
    if (a === FAULT) return FAULT
    // A string that is longer than all constants need not be read.
    if (typeof a === 'string') {
      if (a.length > longest) return false
      return a.length > SHORT_TEXT && spendChars(c, a.length) ? overBudget(c) : others.has(a)
    }
    return isNumeric(a) ? isAmong(sorted, plain(a)) : others.has(a)
  }
}

/** Searches a sorted list. A Set of numbers would be as fast, but numbers can be chosen so that they collide in it. */
function isAmong(sorted: readonly (number | bigint)[], wanted: number | bigint): boolean {
  let low = 0
  let high = sorted.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = sorted[middle] as number | bigint
    if (found < wanted) low = middle + 1
    else if (found > wanted) high = middle - 1
    else return found <= wanted
  }
  return false
}

export function unaryRun(op: UnaryOp, operand: Run): Run {
  if (op === '-') {
    return (c) => {
      const value = operand(c)
      return value === FAULT ? FAULT : negate(c, value)
    }
  }
  return (c) => {
    const value = operand(c)
    if (value === true) return false
    if (value === false) return true
    return value === FAULT ? FAULT : fail(c, `'!' cannot be applied to ${typeWord(value)}`)
  }
}

/**
 * `&&` and `||` over any number of operands. An operand that decides the result does so even if another one, on either
 * side, fails; otherwise the first error is the result.
 */
export function logicRun(op: '&&' | '||', operands: readonly Run[]): Run {
  const decisive = op === '||'
  const neutral = !decisive
  const [left, right] = operands as readonly [Run, Run]
  if (operands.length > 2) return (c) => decide(c, op, operands, decisive)
  return (c) => {
    const a = left(c)
    if (a === decisive) return decisive
    if (a === neutral) {
      const b = right(c)
      return b === true || b === false ? b : b === FAULT ? FAULT : notBoolean(c, op, b)
    }
    // When the budget is spent, evaluation stops, and no other operand can decide the result.
    if (c.stepsLeft < 0) return FAULT
    const fault = a === FAULT ? c.fault : notBooleanWords(op, a)
    if (right(c) === decisive) return decisive
    if (c.stepsLeft < 0) return FAULT
    return fail(c, fault)
  }
}

function decide(c: Context, op: '&&' | '||', operands: readonly Run[], decisive: boolean): Result {
  let fault = ''
  for (let i = 0; i < operands.length; i++) {
    const value = (operands[i] as Run)(c)
    if (value === decisive) return decisive
    if (c.stepsLeft < 0) return FAULT
    if (fault === '' && value !== !decisive) fault = value === FAULT ? c.fault : notBooleanWords(op, value)
  }
  return fault === '' ? !decisive : fail(c, fault)
}

function notBoolean(c: Context, op: string, value: Value): typeof FAULT {
  return fail(c, notBooleanWords(op, value))
}

function notBooleanWords(op: string, value: Value): string {
  return `'${op}' cannot be applied to ${typeWord(value)}`
}

export function ternaryRun(test: Run, yes: Run, no: Run): Run {
  return (c) => {
    const value = test(c)
    if (value === true) return yes(c)
    if (value === false) return no(c)
    return value === FAULT ? FAULT : notBoolean(c, '?:', value)
  }
}
