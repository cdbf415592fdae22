// JSON as it comes in from outside, whatever the wire: parsed with a bound on its depth, and named by its media type.
import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'

export const MAX_DEPTH = 64

/**
 * How deep a JSON text nests, without parsing it: brackets outside of strings. Right for valid JSON; for the rest the
 * parser speaks. Stops counting at `enough`.
 */
export function jsonDepth(bytes: Buffer, enough: number): number {
  let depth = 0
  let deepest = 0
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i]!
    if (c === 0x22) {
      // To the closing quote: a quote that an odd number of backslashes does not escape.
      for (i++; i < bytes.length && bytes[i] !== 0x22; i++) if (bytes[i] === 0x5c) i++
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > deepest && (deepest = depth) >= enough) return deepest
    } else if (c === 0x7d || c === 0x5d) depth--
  }
  return deepest
}

/** `text` is what was parsed, decoded once. */
export type ParsedJson = { ok: true; value: unknown; text: string } | { ok: false; problem: string }

/** Parses a body; `extraDepth` allows for an envelope around what the depth limit is about. */
export function parseJson(bytes: Buffer, extraDepth = 0): ParsedJson {
  if (bytes.length === 0) return { ok: false, problem: 'a JSON body' }
  if (!isUtf8(bytes)) return { ok: false, problem: 'JSON in UTF-8' }
  const most = MAX_DEPTH + extraDepth
  // Each level has two brackets: what is short is not deep.
  if (bytes.length > 2 * most && jsonDepth(bytes, most + 1) > most)
    return { ok: false, problem: `JSON nested at most ${MAX_DEPTH} deep` }
  try {
    const text = bytes.toString('utf8')
    return { ok: true, value: JSON.parse(text), text }
  } catch {
    return { ok: false, problem: 'valid JSON' }
  }
}

// A whole number that a double cannot hold has sixteen digits at least; the rare text that has so many in a row pays
// for looking, no other does.
const LONG_NUMBER = /\d{16}/
export const mayHoldLongNumber = (bytes: Buffer): boolean => LONG_NUMBER.test(bytes.toString('latin1'))
const WHOLE = /^-?\d+$/
/** Stands before a number that is kept as text on its way through the parser. Nobody outside can know it. */
const MARK = randomBytes(16).toString('base64url')

const isDigitOrSign = (c: number): boolean => (c >= 0x30 && c <= 0x39) || c === 0x2d
const isInNumber = (c: number): boolean => isDigitOrSign(c) || c === 0x2b || c === 0x2e || c === 0x45 || c === 0x65

/** Whether the digits are a whole number of 64 bits that a double does not hold; beyond them a number is a decimal. */
function isLongWhole(digits: string): boolean {
  if (digits.length < 16 || digits.length > 20 || !WHOLE.test(digits) || Number.isSafeInteger(Number(digits)))
    return false
  const whole = BigInt(digits)
  return BigInt.asIntN(64, whole) === whole
}

/** The text with every such number as a marked string; null where there is none. */
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

/** Puts the marked numbers back, in place: what was parsed belongs to nobody else yet. */
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
 * The value of JSON that was parsed before, with whole numbers beyond 2^53 as bigint, so that a filter compares what
 * was sent. A reviver would do it too, and takes three seconds for a megabyte of `{}`; this takes as long as parsing.
 */
export function withExactNumbers(text: string, value: unknown): unknown {
  if (!LONG_NUMBER.test(text)) return value
  const marked = markLongNumbers(text)
  return marked === null ? value : unmark(JSON.parse(marked))
}

/**
 * What `withExactNumbers` made of the text, in place, with those numbers as JSON.stringify writes them: for somebody who
 * only passes it on, and writes it by itself.
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

/** A JSON text as a value for somebody who only passes it on: long whole numbers are written as they came. */
export const parseToPassOn = (text: string): unknown => withRawNumbers(text, withExactNumbers(text, JSON.parse(text)))

// Not in the types of the language yet: a text that JSON.stringify writes as it is.
export const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

/** As JSON, with whole numbers of any length. */
export const toText = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? rawJson(String(part)) : part)) ?? 'null'

/**
 * The value with every text as UTF-8 can hold it. JSON can escape half a surrogate pair, which no store keeps: answered
 * as sent and stored as something else it would be two texts. It becomes the replacement character, as every encoder
 * makes it.
 */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, wellFormed(part)]))
}

/**
 * Whether a JSON text escapes a surrogate: without one there is nothing to repair, and nearly every text is without.
 */
export const escapesSurrogates = (json: Buffer | string): boolean => json.includes('\\ud') || json.includes('\\uD')

/**
 * `application/json; charset=utf-8` is `application/json`; another charset is none of ours. By hand: a regular
 * expression that allows for space on all sides took 0.7 s for a header of 15 kB.
 */
export function mediaType(header: string | undefined): string {
  if (header === undefined) return ''
  // What nearly every client sends, and as it is.
  if (header === 'application/json') return header
  const [type, ...parameters] = header.toLowerCase().split(';')
  for (const parameter of parameters) {
    const charset = charsetOf(parameter)
    if (charset === undefined) continue
    return charset === 'utf-8' || charset === 'utf8' ? type!.trim() : `${type!.trim()}; charset=${charset}`
  }
  return type!.trim()
}

function charsetOf(parameter: string): string | undefined {
  const equals = parameter.indexOf('=')
  if (equals === -1 || parameter.slice(0, equals).trim() !== 'charset') return undefined
  let value = parameter.slice(equals + 1).trim()
  if (value.startsWith('"')) value = value.slice(1)
  if (value.endsWith('"')) value = value.slice(0, -1)
  return /["\s]/.test(value) ? undefined : value
}
