// JSON from outside, over any transport: parsed with a bound on its depth, and recognised by its media type.
import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { jsonPieces } from './json-write.ts'

export const MAX_DEPTH = 64
/** The `problem` of a text that nests deeper. */
export const TOO_DEEP = `JSON nested at most ${MAX_DEPTH} deep`
/**
 * Added to the limit for what the service reads back from its store, which was checked when it came in. The data that a
 * mapping made was not always checked, and older stores have some that nests deeper.
 */
export const STORED_DEPTH = 200

/**
 * Returns how deep a JSON text nests, without parsing it, by the brackets outside of strings. Correct for valid JSON;
 * the parser rejects the rest. Stops counting at `enough`.
 */
function jsonDepth(bytes: Buffer, enough: number): number {
  let depth = 0
  let deepest = 0
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i]!
    if (c === 0x22) {
      // To the closing quote: the next one that no backslash escapes.
      for (i++; i < bytes.length && bytes[i] !== 0x22; i++) if (bytes[i] === 0x5c) i++
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > deepest && (deepest = depth) >= enough) return deepest
    } else if (c === 0x7d || c === 0x5d) depth--
  }
  return deepest
}

/** `text` is the text that was parsed, decoded once. */
export type ParsedJson = { ok: true; value: unknown; text: string } | { ok: false; problem: string }

/** Parses a body; `extraDepth` allows for an envelope around the part that the depth limit is about. */
export function parseJson(bytes: Buffer, extraDepth = 0): ParsedJson {
  if (bytes.length === 0) return { ok: false, problem: 'a JSON body' }
  if (!isUtf8(bytes)) return { ok: false, problem: 'JSON in UTF-8' }
  const most = MAX_DEPTH + extraDepth
  // Each level has two brackets: a short text is not deep.
  if (bytes.length > 2 * most && jsonDepth(bytes, most + 1) > most) return { ok: false, problem: TOO_DEEP }
  try {
    const text = bytes.toString('utf8')
    return { ok: true, value: JSON.parse(text), text }
  } catch {
    return { ok: false, problem: 'valid JSON' }
  }
}

// A whole number that a double cannot hold has at least sixteen digits. Only the rare text with that many in a row pays
// for a closer look.
const LONG_NUMBER = /\d{16}/
export const mayHoldLongNumber = (bytes: Buffer): boolean => LONG_NUMBER.test(bytes.toString('latin1'))
const WHOLE = /^-?\d+$/
/** Stands before a number that is kept as text on its way through the parser. It is random: no client can know it. */
const MARK = randomBytes(16).toString('base64url')

const isDigitOrSign = (c: number): boolean => (c >= 0x30 && c <= 0x39) || c === 0x2d
const isInNumber = (c: number): boolean => isDigitOrSign(c) || c === 0x2b || c === 0x2e || c === 0x45 || c === 0x65

/**
 * Whether the digits are a whole number of 64 bits that a double does not hold; beyond 64 bits a number is a decimal.
 */
function isLongWhole(digits: string): boolean {
  if (digits.length < 16 || digits.length > 20 || !WHOLE.test(digits) || Number.isSafeInteger(Number(digits)))
    return false
  const whole = BigInt(digits)
  return BigInt.asIntN(64, whole) === whole
}

/** Returns the text with every such number as a marked string, null if there is none. */
function markLongNumbers(text: string): string | null {
  let marked = ''
  let copied = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x22)
      for (i++; i < text.length && text.charCodeAt(i) !== 0x22; i++) i += text.charCodeAt(i) === 0x5c ? 1 : 0
    if (!isDigitOrSign(c)) continue
    const start = i
    while (i + 1 < text.length && isInNumber(text.charCodeAt(i + 1))) i++
    const digits = text.slice(start, i + 1)
    if (!isLongWhole(digits)) continue
    marked += `${text.slice(copied, start)}"${MARK}${digits}"`
    copied = i + 1
  }
  return copied === 0 ? null : marked + text.slice(copied)
}

const isHolder = (part: unknown): boolean =>
  typeof part === 'string' ? part.startsWith(MARK) : typeof part === 'object' && part !== null

/** Turns the marked strings into numbers, in place: the parsed value is not shared yet. */
function unmark(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (isHolder(value[i])) value[i] = unmark(value[i])
    return value
  }
  const holder = value as Record<string, unknown>
  for (const key in holder) if (isHolder(holder[key])) holder[key] = unmark(holder[key])
  return value
}

/**
 * Returns the value of a JSON text that was parsed before, with whole numbers beyond 2^53 as bigint, so that a filter
 * compares the numbers that were sent. A reviver would do the same, but takes three seconds for a megabyte of `{}`;
 * this takes as long as parsing.
 */
export function withExactNumbers(text: string, value: unknown): unknown {
  if (!LONG_NUMBER.test(text)) return value
  const marked = markLongNumbers(text)
  return marked === null ? value : unmark(JSON.parse(marked))
}

/**
 * Changes the result of `withExactNumbers`, in place, so that JSON.stringify writes those numbers as they came: for a
 * caller that only passes the value on, and writes it by itself.
 */
export const withRawNumbers = (text: string, value: unknown): unknown => (LONG_NUMBER.test(text) ? raw(value) : value)

function raw(value: unknown): unknown {
  if (typeof value === 'bigint') return rawJson(String(value))
  if (typeof value !== 'object' || value === null) return value
  const holder = value as Record<string, unknown>
  for (const key in holder) {
    const part = holder[key]
    if (typeof part === 'bigint' || typeof part === 'object') holder[key] = raw(part)
  }
  return value
}

// Makes a value that JSON.stringify writes as the given text. Not in the types of the language yet.
export const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

/** Returns the value as JSON, with whole numbers of any length. For a value that may be long, see json-write.ts. */
export function toText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    // A bigint, for which JSON.stringify throws. Nearly no value holds one, and a replacer takes six times as long.
    return [...jsonPieces(value)].join('')
  }
}

/**
 * Returns the value with every text in a form that UTF-8 can hold. JSON can escape half a surrogate pair, which no
 * store keeps: the response would show one text, and the store would hold another. The half becomes the replacement
 * character, as in every encoder.
 */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, wellFormed(part)]))
}

/** Whether a JSON text escapes a surrogate. Nearly every text has none, and then there is nothing to repair. */
export const escapesSurrogates = (json: Buffer | string): boolean => json.includes('\\ud') || json.includes('\\uD')
