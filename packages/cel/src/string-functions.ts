// The table of the functions of strings, and those that are not in strings.ts.
import { method, functionOf, type Arg, type Definitions } from './definition.ts'
import { countCodePoints } from './errors.ts'
import {
  containsText,
  endsWith,
  hasSurrogates,
  indexOf,
  join,
  lowerAscii,
  mistyped,
  replace,
  split,
  startsWith,
  substring,
  trim,
  unitOffset,
  upperAscii,
} from './strings.ts'
import { fail, overBudget, spend, spendChars, type Context, type Result, type Value } from './values.ts'

/** Returns the character at an index; the empty string for the index after the last character. */
function charAt(c: Context, text: Value, index: Arg): Result {
  if (typeof text !== 'string') return mistyped(c, 'charAt', text, index)
  if (spendChars(c, text.length)) return overBudget(c)
  const at = unitOffset(text, index)
  if (at === null) return fail(c, 'charAt() is out of range')
  return at === text.length ? '' : String.fromCodePoint(text.codePointAt(at) as number)
}

/**
 * Returns the last index where the part begins, at or before a given index. The engine's own search from the end is
 * quadratic on hostile text, so a long part is paid for by the product of the lengths.
 */
function lastIndexOf(c: Context, text: Value, part: Arg, from: Arg): Result {
  if (typeof text !== 'string' || typeof part !== 'string') return mistyped(c, 'lastIndexOf', text, part)
  if (spendChars(c, (text.length + 1) * Math.max(1, Math.min(part.length, text.length - part.length)))) {
    return overBudget(c)
  }
  const start = from === undefined ? text.length : unitOffset(text, from)
  if (start === null) return fail(c, 'lastIndexOf() is out of range')
  const found = text.lastIndexOf(part, start)
  return found <= 0 || !hasSurrogates(text) ? found : countCodePoints(text.slice(0, found))
}

function reverse(c: Context, value: Value): Result {
  if (Array.isArray(value)) return spend(c, value.length) ? overBudget(c) : (value as readonly Value[]).toReversed()
  if (typeof value !== 'string') return mistyped(c, 'reverse', value)
  return spend(c, value.length + 1) ? overBudget(c) : [...value].reverse().join('')
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

/** Returns the string as a literal. */
function quote(c: Context, text: Value): Result {
  if (typeof text !== 'string') return mistyped(c, 'strings.quote', text)
  if (spend(c, text.length + 1)) return overBudget(c)
  return `"${text.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, (char) => ESCAPES[char] as string)}"`
}

export const STRING_FUNCTIONS: Definitions = [
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
  ['lastIndexOf', method(lastIndexOf, 2, 3)],
  ['charAt', method(charAt, 2)],
  ['reverse', method(reverse, 1)],
  ['strings.quote', functionOf(quote, 1)],
]
