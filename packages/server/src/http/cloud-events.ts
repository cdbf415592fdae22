// CloudEvents over HTTP: structured, binary and batch mode, read into events that may be published. The text of an
// envelope is kept as it came: numbers too long for JavaScript, the order of keys and the bytes of strings all survive.
import type { IncomingHttpHeaders } from 'node:http'
import { Failure, invalidEvent, tooLarge } from '../kernel/failure.ts'
import { eventWithData, prepareEvent, withoutOurs, type PreparedEvent } from '../events/envelope.ts'
import { withExactNumbers } from '../kernel/json.ts'
import { parseJson } from './body.ts'

export const BATCH_TYPE = 'application/cloudevents-batch+json'
const STRUCTURED_TYPE = 'application/cloudevents+json'
const MAX_BATCH = 100

/** Binary mode: the attributes are headers, whatever the media type of the body, which is the data. */
export const isBinaryMode = (headers: IncomingHttpHeaders, mediaType: string): boolean =>
  mediaType !== STRUCTURED_TYPE &&
  mediaType !== BATCH_TYPE &&
  Object.keys(headers).some((name) => name.startsWith('ce-'))

export function readEvent(headers: IncomingHttpHeaders, mediaType: string, raw: Buffer): PreparedEvent {
  return withoutOurs(isBinaryMode(headers, mediaType) ? binaryEvent(headers, mediaType, raw) : structuredEvent(raw))
}

function structuredEvent(raw: Buffer): PreparedEvent {
  const parsed = parseJson(raw)
  if (!parsed.ok) throw invalidEvent('body', raw.toString('utf8', 0, 400), parsed.problem)
  return prepareEvent(withExactNumbers(parsed.text, parsed.value), parsed.text)
}

// The HTTP binding sends characters beyond ASCII, quotes, spaces and percent signs as percent escapes.
function attribute(name: string, value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    throw invalidEvent(name, value, 'whole percent escapes of UTF-8')
  }
}

function binaryEvent(headers: IncomingHttpHeaders, mediaType: string, raw: Buffer): PreparedEvent {
  const envelope: Record<string, unknown> = {}
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith('ce-') || header.length === 3) continue
    const name = header.slice(3)
    // What the body carries cannot be an attribute.
    if (name === 'data' || name === 'data_base64') throw invalidEvent(name, value, 'the data in the body')
    envelope[name] = attribute(name, String(value))
  }
  const contentType = headers['content-type']
  if (contentType !== undefined) envelope['datacontenttype'] = contentType
  return eventWithData(envelope, mediaType, raw)
}

/** The events of a batch in order; one that is wrong is a Failure in its place. */
export function readBatch(raw: Buffer, maxEventBytes: number): (PreparedEvent | Failure)[] {
  const refuse = (expected: string): Failure => invalidEvent('body', raw.toString('utf8', 0, 400), expected)
  const parts = splitArray(raw)
  if (parts === null || parts.length === 0 || parts.length > MAX_BATCH) {
    // Is it JSON at all? The answer differs in what it says was expected.
    const parsed = parseJson(raw, 1)
    throw refuse(parsed.ok ? `an array of 1 to ${MAX_BATCH} CloudEvents` : parsed.problem)
  }
  return parts.map((part) => {
    const parsed = parseJson(part)
    if (!parsed.ok && !parsed.problem.includes('deep')) throw refuse(parsed.problem)
    try {
      if (part.length > maxEventBytes) throw tooLarge(part.length, maxEventBytes)
      if (!parsed.ok) throw invalidEvent('data', null, parsed.problem)
      return withoutOurs(prepareEvent(withExactNumbers(parsed.text, parsed.value), parsed.text))
    } catch (error) {
      if (error instanceof Failure) return error
      throw error
    }
  })
}

const isSpace = (c: number | undefined): boolean => c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09

/**
 * The elements of a JSON array as bytes, found by their commas; null where the outside is no array. Each is parsed
 * later.
 */
export function splitArray(bytes: Buffer): Buffer[] | null {
  let start = 0
  let end = bytes.length
  while (isSpace(bytes[start])) start++
  while (isSpace(bytes[end - 1])) end--
  if (end - start < 2 || bytes[start] !== 0x5b || bytes[end - 1] !== 0x5d) return null
  const parts: Buffer[] = []
  let depth = 0
  let from = start + 1
  for (let i = start + 1; i < end - 1; i++) {
    const c = bytes[i]!
    if (c === 0x22) for (i++; i < end - 1 && bytes[i] !== 0x22; i++) i += bytes[i] === 0x5c ? 1 : 0
    else if (c === 0x7b || c === 0x5b) depth++
    else if (c === 0x7d || c === 0x5d) depth--
    else if (c === 0x2c && depth === 0) {
      parts.push(trimmed(bytes, from, i))
      from = i + 1
    }
  }
  const last = trimmed(bytes, from, end - 1)
  if (last.length > 0 || parts.length > 0) parts.push(last)
  return parts
}

function trimmed(bytes: Buffer, from: number, to: number): Buffer {
  while (from < to && isSpace(bytes[from])) from++
  while (to > from && isSpace(bytes[to - 1])) to--
  return bytes.subarray(from, to)
}
