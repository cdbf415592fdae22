// `"%d of %s".format([1, "x"])`: the clauses %s %d %f %e %b %o %x %X, and %% for a percent sign.
import { asDouble, isNumeric } from './arithmetic.ts'
import { isMap, lookUp, mapKeys } from './compare.ts'
import { method, type Arg, type Definitions } from './definition.ts'
import { mistyped } from './strings.ts'
import { scalarText } from './text.ts'
import {
  fail,
  FAULT,
  overBudget,
  spend,
  spendChars,
  typeWord,
  wholeOf,
  type Context,
  type Result,
  type Value,
} from './values.ts'

const MAX_PRECISION = 100
const MAX_DEPTH = 100
/** The cost of formatting a number with a hundred digits. */
const CLAUSE_STEPS = 40
const CLAUSE = /%(?:\.(\d{1,3}))?(.)?/gsu

function format(c: Context, template: Value, args: Arg): Result {
  if (typeof template !== 'string' || !Array.isArray(args)) return mistyped(c, 'format', template, args)
  if (spendChars(c, template.length)) return overBudget(c)
  const values = args as readonly Value[]
  let out = ''
  let from = 0
  let used = 0
  for (const found of template.matchAll(CLAUSE)) {
    if (spend(c, CLAUSE_STEPS)) return overBudget(c)
    out += template.slice(from, found.index)
    from = found.index + found[0].length
    const clause = found[2] ?? ''
    if (clause === '%') {
      out += '%'
      continue
    }
    if (used >= values.length) return fail(c, `format() has no value for ${found[0]}`)
    const text = formatted(c, clause, found[1] === undefined ? 6 : Number(found[1]), values[used++] as Value)
    if (text === FAULT) return FAULT
    if (spendChars(c, text.length)) return overBudget(c)
    out += text
  }
  return out + template.slice(from)
}

function formatted(c: Context, clause: string, precision: number, value: Value): string | typeof FAULT {
  if (precision > MAX_PRECISION) return fail(c, `format() has at most ${MAX_PRECISION} digits`)
  switch (clause) {
    case 's':
      return asText(c, value, 0)
    case 'd':
      return decimal(c, value)
    case 'f':
      return isNumeric(value) ? fixed(asDouble(value), precision) : wrong(c, clause, value)
    case 'e':
      return isNumeric(value) ? scientific(asDouble(value), precision) : wrong(c, clause, value)
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0'
      return inBase(c, clause, value, 2)
    case 'o':
      return inBase(c, clause, value, 8)
    case 'x':
      return hex(c, clause, value)
    case 'X': {
      const text = hex(c, clause, value)
      return text === FAULT ? FAULT : text.toUpperCase()
    }
    default:
      return fail(c, `format() knows no clause %${clause}`)
  }
}

function wrong(c: Context, clause: string, value: Value): typeof FAULT {
  return fail(c, `%${clause} cannot be applied to ${typeWord(value)}`)
}

function decimal(c: Context, value: Value): string | typeof FAULT {
  const whole = wholeOf(value)
  if (whole !== null) return String(whole)
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : wrong(c, 'd', value)
}

function inBase(c: Context, clause: string, value: Value, base: number): string | typeof FAULT {
  const whole = wholeOf(value)
  return whole === null ? wrong(c, clause, value) : whole.toString(base)
}

function hex(c: Context, clause: string, value: Value): string | typeof FAULT {
  if (typeof value !== 'string' && !(value instanceof Uint8Array)) return inBase(c, clause, value, 16)
  if (spendChars(c, value.length * 6)) return overBudget(c)
  return (typeof value === 'string' ? Buffer.from(value, 'utf8') : Buffer.from(value)).toString('hex')
}

/** Formats with `precision` digits after the point. A tie is rounded to the even digit; JavaScript rounds it up. */
function fixed(value: number, precision: number): string {
  if (!Number.isFinite(value)) return String(value)
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const size = Math.abs(value)
  if (size >= 1e21) return `${sign}${BigInt(size)}${precision === 0 ? '' : `.${'0'.repeat(precision)}`}`
  const exact = size.toFixed(100)
  const point = exact.indexOf('.')
  const cut = precision === 0 ? exact.slice(0, point) : exact.slice(0, point + 1 + precision)
  const isTie = /^50*$/.test(exact.slice(point + 1 + precision))
  const isEven = '02468'.includes(cut.at(-1) as string)
  return sign + (isTie && isEven ? cut : size.toFixed(precision))
}

/** Formats with an exponent of at least two digits. */
function scientific(value: number, precision: number): string {
  if (!Number.isFinite(value)) return String(value)
  return value.toExponential(precision).replace(/([+-])(\d)$/, '$10$2')
}

/** Formats `%s`. Lists and maps are written out, with the keys of maps in order. */
function asText(c: Context, value: Value, depth: number): string | typeof FAULT {
  if (spend(c, 2)) return overBudget(c)
  if (depth > MAX_DEPTH) return fail(c, 'format() cannot show what is nested so deeply')
  if (value === null) return 'null'
  if (Array.isArray(value)) {
    const parts: string[] = []
    for (const item of value as readonly Value[]) {
      const text = asText(c, item, depth + 1)
      if (text === FAULT) return FAULT
      parts.push(text)
    }
    return joined(c, '[', parts, ']')
  }
  if (isMap(value)) {
    const keys = mapKeys(c, value)
    if (keys === FAULT || spend(c, keys.length * 8)) return overBudget(c)
    const named = keys.map((key): [string, Value] => [String(key), key])
    // Sorting compares each key with about as many others as the number of keys has bits.
    const length = named.reduce((sum, [name]) => sum + name.length, 0)
    if (spendChars(c, length * Math.ceil(Math.log2(keys.length + 1)))) return overBudget(c)
    const parts: string[] = []
    for (const [name, key] of named.sort(byName)) {
      if (spendChars(c, name.length)) return overBudget(c)
      const text = asText(c, lookUp(value, key) as Value, depth + 1)
      if (text === FAULT) return FAULT
      parts.push(`${name}: ${text}`)
    }
    return joined(c, '{', parts, '}')
  }
  const text = scalarText(c, value)
  if (text === null) return wrong(c, 's', value)
  return text === FAULT || spendChars(c, text.length) ? FAULT : text
}

/** The parts are paid for one by one, and again in each list around them, which has its own text. */
function joined(c: Context, open: string, parts: readonly string[], close: string): string | typeof FAULT {
  let length = 2
  for (const part of parts) length += part.length + 2
  return spendChars(c, length) ? overBudget(c) : `${open}${parts.join(', ')}${close}`
}

function byName([a]: [string, Value], [b]: [string, Value]): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export const FORMAT_FUNCTIONS: Definitions = [['format', method(format, 2)]]
