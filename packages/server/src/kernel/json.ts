// JSON as it comes in from outside, whatever the wire: parsed with a bound on its depth, and named by its media type.
import { isUtf8 } from 'node:buffer'

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
  if (jsonDepth(bytes, MAX_DEPTH + extraDepth + 1) > MAX_DEPTH + extraDepth)
    return { ok: false, problem: `JSON nested at most ${MAX_DEPTH} deep` }
  try {
    const text = bytes.toString('utf8')
    return { ok: true, value: JSON.parse(text), text }
  } catch {
    return { ok: false, problem: 'valid JSON' }
  }
}

// A whole number that a double cannot hold. The rare text that has sixteen digits in a row pays for looking; no other
// does.
const LONG_NUMBER = /\d{16}/
const WHOLE = /^-?\d+$/

/**
 * The value of JSON that was parsed before, with whole numbers beyond 2^53 as bigint, so that a filter compares what
 * was sent.
 */
export function withExactNumbers(text: string, value: unknown): unknown {
  if (!LONG_NUMBER.test(text)) return value
  const exactly = (_key: string, read: unknown, { source }: { source?: string }): unknown => {
    if (
      typeof read !== 'number' ||
      source === undefined ||
      Number.isSafeInteger(read) ||
      source.length > 20 ||
      !WHOLE.test(source)
    )
      return read
    const whole = BigInt(source)
    // Filters know whole numbers of 64 bits; beyond them a number is a decimal.
    return BigInt.asIntN(64, whole) === whole ? whole : read
  }
  return (JSON.parse as (text: string, reviver: typeof exactly) => unknown)(text, exactly)
}

/** As JSON, with whole numbers of any length. */
export const toText = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? Number(part) : part)) ?? 'null'

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
export const escapesSurrogates = (bytes: Buffer): boolean => bytes.includes('\\ud') || bytes.includes('\\uD')

/** `application/json; charset=utf-8` is `application/json`; another charset is none of ours. */
export function mediaType(header: string | undefined): string {
  if (header === undefined) return ''
  const [type, ...parameters] = header.toLowerCase().split(';')
  const charset = parameters.map((p) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(p)?.[1]).find((c) => c !== undefined)
  return charset === undefined || charset === 'utf-8' || charset === 'utf8'
    ? type!.trim()
    : `${type!.trim()}; charset=${charset}`
}
