// CEL counts strings in code points and JavaScript in UTF-16 units. The two agree for nearly every string, so each
// function first checks whether they differ. All work is paid for by length before it is done.
import { indexOfLinear } from './index-of.ts'
import type { Arg } from './definition.ts'
import { countCodePoints } from './errors.ts'
import {
  Double,
  fail,
  FAULT,
  overBudget,
  spend,
  spendChars,
  typeWord,
  Uint,
  type Context,
  type Result,
  type Value,
} from './values.ts'

const SURROGATE = /[\ud800-\udfff]/
const ASCII = /^[\0-\x7f]*$/

/** White space by Unicode: U+0085 is included and U+FEFF is not. JavaScript does the opposite. */
const IS_SPACE = new Uint8Array(0x3001)
const SPACES = [[0x09, 0x0d], [0x20], [0x85], [0xa0], [0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f], [0x205f]]
for (const [first, last = first] of [...SPACES, [0x3000]]) IS_SPACE.fill(1, first, (last as number) + 1)
/** White space is taken off one character after the other, which takes longer than other reading. */
const TRIMMED_PER_STEP = 2

export function hasSurrogates(text: string): boolean {
  return SURROGATE.test(text)
}

export function stringSize(c: Context, text: string): Result {
  return spendChars(c, text.length) ? overBudget(c) : countCodePoints(text)
}

export function startsWith(c: Context, text: Value, prefix: Arg): Result {
  if (typeof text !== 'string' || typeof prefix !== 'string') return mistyped(c, 'startsWith', text, prefix)
  return spendChars(c, prefix.length) ? overBudget(c) : text.startsWith(prefix)
}

export function endsWith(c: Context, text: Value, suffix: Arg): Result {
  if (typeof text !== 'string' || typeof suffix !== 'string') return mistyped(c, 'endsWith', text, suffix)
  return spendChars(c, suffix.length) ? overBudget(c) : text.endsWith(suffix)
}

export function containsText(c: Context, text: Value, part: Arg): Result {
  if (typeof text !== 'string' || typeof part !== 'string') return mistyped(c, 'contains', text, part)
  return spendChars(c, text.length + part.length) ? overBudget(c) : indexOfLinear(text, part) !== -1
}

export function lowerAscii(c: Context, text: Value): Result {
  if (typeof text !== 'string') return mistyped(c, 'lowerAscii', text)
  if (spendChars(c, text.length)) return overBudget(c)
  if (ASCII.test(text)) return text.toLowerCase()
  return spend(c, text.length) ? overBudget(c) : text.replace(/[A-Z]+/g, (run) => run.toLowerCase())
}

export function upperAscii(c: Context, text: Value): Result {
  if (typeof text !== 'string') return mistyped(c, 'upperAscii', text)
  if (spendChars(c, text.length)) return overBudget(c)
  if (ASCII.test(text)) return text.toUpperCase()
  return spend(c, text.length) ? overBudget(c) : text.replace(/[a-z]+/g, (run) => run.toUpperCase())
}

export function trim(c: Context, text: Value): Result {
  if (typeof text !== 'string') return mistyped(c, 'trim', text)
  if (spendChars(c, text.length)) return overBudget(c)
  let start = 0
  let end = text.length
  for (; start < end && IS_SPACE[text.charCodeAt(start)] === 1; start++)
    if (start % TRIMMED_PER_STEP === 0 && spend(c, 1)) return overBudget(c)
  for (; end > start && IS_SPACE[text.charCodeAt(end - 1)] === 1; end--)
    if (end % TRIMMED_PER_STEP === 0 && spend(c, 1)) return overBudget(c)
  return text.slice(start, end)
}

export function substring(c: Context, text: Value, from: Arg, to: Arg): Result {
  if (typeof text !== 'string') return mistyped(c, 'substring', text)
  if (spendChars(c, text.length)) return overBudget(c)
  const start = unitOffset(text, from)
  const end = to === undefined ? text.length : unitOffset(text, to)
  if (start === null || end === null || start > end) return fail(c, 'substring() is out of range')
  return text.slice(start, end)
}

export function indexOf(c: Context, text: Value, part: Arg, from: Arg): Result {
  if (typeof text !== 'string' || typeof part !== 'string') return mistyped(c, 'indexOf', text, part)
  if (spendChars(c, text.length + part.length)) return overBudget(c)
  const start = from === undefined ? 0 : unitOffset(text, from)
  if (start === null) return fail(c, 'indexOf() is out of range')
  const found = indexOfLinear(text, part, start)
  return found <= 0 || !SURROGATE.test(text) ? found : countCodePoints(text.slice(0, found))
}

export function split(c: Context, text: Value, separator: Arg, limit: Arg): Result {
  if (typeof text !== 'string' || typeof separator !== 'string') return mistyped(c, 'split', text, separator)
  const most = countLimit(limit)
  if (most === null) return mistyped(c, 'split', text, separator, limit as Value)
  if (most === 0) return []
  if (spendChars(c, text.length + separator.length)) return overBudget(c)
  const cuts = separator === '' ? characterCuts(c, text, most) : occurrences(c, text, separator, most - 1)
  if (cuts === FAULT) return FAULT
  // An empty string has no characters.
  if (text === '' && separator === '') return []
  return pieces(text, cuts, separator.length)
}

export function replace(c: Context, text: Value, old: Arg, fresh: Arg, limit: Arg): Result {
  if (typeof text !== 'string' || typeof old !== 'string' || typeof fresh !== 'string') {
    return mistyped(c, 'replace', text, old, fresh)
  }
  const most = countLimit(limit)
  if (most === null) return mistyped(c, 'replace', text, old, fresh, limit as Value)
  if (spendChars(c, text.length + old.length)) return overBudget(c)
  let cuts = old === '' ? characterCuts(c, text, most) : occurrences(c, text, old, most)
  if (cuts === FAULT) return FAULT
  // An empty string occurs before every character and at the end.
  if (old === '') cuts = [0, ...cuts, ...(text === '' ? [] : [text.length])].slice(0, Math.min(most, cuts.length + 2))
  if (spendChars(c, text.length + cuts.length * fresh.length)) return overBudget(c)
  return pieces(text, cuts, old.length).join(fresh)
}

export function join(c: Context, list: Value, separator: Arg): Result {
  if (!Array.isArray(list) || (separator !== undefined && typeof separator !== 'string')) {
    return mistyped(c, 'join', list, separator)
  }
  if (spend(c, list.length)) return overBudget(c)
  const between = separator ?? ''
  let length = list.length * between.length
  for (const item of list as readonly Value[]) {
    if (typeof item !== 'string') return fail(c, `join() needs a list of strings, and there is ${typeWord(item)} in it`)
    length += item.length
  }
  return spendChars(c, length) ? overBudget(c) : list.join(between)
}

/** Fails with the message for arguments of the wrong type. */
export function mistyped(c: Context, name: string, ...args: readonly Arg[]): typeof FAULT {
  const types = args.filter((arg) => arg !== undefined).map((arg) => typeWord(arg))
  return fail(c, `${name}() cannot be applied to ${types.join(' and ')}`)
}

/** Returns a whole number of any numeric type as a number; null for anything else. */
export function wholeNumber(value: Arg): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null
  if (value instanceof Double) return value.whole
  return value instanceof Uint && value.unsigned <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.unsigned) : null
}

/** Returns the limit as a number: infinite if it is left out or negative; null if it is not a whole number. */
function countLimit(limit: Arg): number | null {
  if (limit === undefined) return Infinity
  const whole = wholeNumber(limit)
  return whole !== null && whole < 0 ? Infinity : whole
}

/** Returns the offset in UTF-16 units of the code point with this index; null if the index is out of range. */
export function unitOffset(text: string, index: Arg): number | null {
  const wanted = wholeNumber(index)
  if (wanted === null || wanted < 0 || wanted > text.length) return null
  if (!SURROGATE.test(text)) return wanted
  let at = 0
  for (let i = 0; i < wanted; i++) {
    if (at >= text.length) return null
    at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1
  }
  return at
}

/** Returns the offsets of the part, without overlaps, from the left. */
function occurrences(c: Context, text: string, part: string, most: number): number[] | typeof FAULT {
  const found: number[] = []
  for (let at = 0; found.length < most; ) {
    const index = indexOfLinear(text, part, at)
    if (index === -1) break
    if (spend(c, 1)) return overBudget(c)
    found.push(index)
    at = index + part.length
  }
  return found
}

/** Returns the offsets between characters. */
function characterCuts(c: Context, text: string, most: number): number[] | typeof FAULT {
  if (spend(c, Math.min(text.length, most))) return overBudget(c)
  const cuts: number[] = []
  for (let at = 0; cuts.length < most - 1; ) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
    if (at >= text.length) break
    cuts.push(at)
  }
  return cuts
}

function pieces(text: string, cuts: readonly number[], gap: number): string[] {
  const out: string[] = []
  let from = 0
  for (const cut of cuts) {
    out.push(text.slice(from, cut))
    from = cut + gap
  }
  out.push(text.slice(from))
  return out
}
