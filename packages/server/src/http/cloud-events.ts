// CloudEvents over HTTP: structured, binary and batch mode, read into events that may be published. The text of an
// envelope is kept as it came: numbers too long for JavaScript, the order of keys and the bytes of strings all survive.
import type { IncomingHttpHeaders } from 'node:http'
import { BATCH_TYPE, STRUCTURED_TYPE } from '@sensorium/contract'
import { Failure, invalidEvent, tooLarge } from '../kernel/failure.ts'
import {
  eventWithData,
  parseEnvelope,
  prepareEvent,
  refuseServiceAttributes,
  type PreparedEvent,
} from '../events/envelope.ts'
import { TOO_DEEP, type ParsedJson } from '../kernel/json.ts'
import { readMembers } from '../kernel/json-members.ts'
import { isLong } from '../kernel/json-steps.ts'
import { nextTurn, type Pause } from '../kernel/step-turns.ts'
import { asUtf8, unquoted } from './header-text.ts'

const MAX_BATCH = 100
/** Bytes between two pauses: some two milliseconds. */
const SPLIT_STRETCH = 1_048_576

/** Binary mode: the attributes are headers, whatever the media type of the body, which is the data. */
export const isBinaryMode = (headers: IncomingHttpHeaders, mediaType: string): boolean =>
  mediaType !== STRUCTURED_TYPE &&
  mediaType !== BATCH_TYPE &&
  Object.keys(headers).some((name) => name.startsWith('ce-'))

const NO_MEMBERS = { names: new Set<string>(), asText: new Set<string>() }

type Prepared = PreparedEvent | Promise<PreparedEvent>

export function readEvent(
  headers: IncomingHttpHeaders,
  mediaType: string,
  raw: Buffer,
  pause: Pause = nextTurn,
): Prepared {
  const event = isBinaryMode(headers, mediaType)
    ? binaryEvent(headers, mediaType, raw, pause)
    : structuredEvent(raw, pause)
  return event instanceof Promise ? event.then(refuseServiceAttributes) : refuseServiceAttributes(event)
}

function structuredEvent(raw: Buffer, pause: Pause): Prepared {
  const prepare = (parsed: ParsedJson): PreparedEvent => {
    if (!parsed.ok) throw invalidEvent('body', raw.toString('utf8', 0, 400), parsed.problem)
    return prepareEvent(parsed.value, parsed.text, isLong(raw))
  }
  const parsed = parseEnvelope(raw, pause)
  return parsed instanceof Promise ? parsed.then(prepare) : prepare(parsed)
}

// The HTTP binding sends characters beyond ASCII, quotes, spaces and percent signs as percent escapes. A quoted string
// is read as what it quotes. Raw UTF-8, which the binding does not allow, can only mean its characters.
function attribute(name: string, value: string): string {
  try {
    return decodeURIComponent(unquoted(asUtf8(value)))
  } catch {
    throw invalidEvent(name, value, 'whole percent escapes of UTF-8')
  }
}

function binaryEvent(headers: IncomingHttpHeaders, mediaType: string, raw: Buffer, pause: Pause): Prepared {
  const attributes: [name: string, value: string][] = []
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith('ce-') || header.length === 3) continue
    const name = header.slice(3)
    // The body carries the data, so an attribute cannot.
    if (name === 'data' || name === 'data_base64') throw invalidEvent(name, value, 'the data in the body')
    attributes.push([name, attribute(name, String(value))])
  }
  const contentType = headers['content-type']
  if (contentType !== undefined) attributes.push(['datacontenttype', contentType])
  // An assignment would take an attribute called `__proto__` for the prototype.
  return eventWithData(Object.fromEntries(attributes), mediaType, raw, pause)
}

/** Returns the events of a batch in order, with a Failure in place of each that is invalid. */
export async function readBatch(
  raw: Buffer,
  maxEventBytes: number,
  pause: Pause = nextTurn,
): Promise<(PreparedEvent | Failure)[]> {
  const refuse = (expected: string): Failure => invalidEvent('body', raw.toString('utf8', 0, 400), expected)
  const parts = await splitArray(raw, pause)
  if (parts === null || parts.length === 0 || parts.length > MAX_BATCH) {
    // Whether the body is JSON at all decides what the refusal says was expected.
    const checked = await readMembers(raw, NO_MEMBERS, 1, pause)
    throw refuse(checked.ok ? `an array of 1 to ${MAX_BATCH} CloudEvents` : checked.problem)
  }
  const events: (PreparedEvent | Failure)[] = []
  for (const part of parts) {
    const parsed = await parseEnvelope(part, pause)
    if (!parsed.ok && parsed.problem !== TOO_DEEP) throw refuse(parsed.problem)
    events.push(eventOf(part, parsed, maxEventBytes))
    await nextTurn()
  }
  return events
}

function eventOf(part: Buffer, parsed: ParsedJson, maxBytes: number): PreparedEvent | Failure {
  try {
    if (part.length > maxBytes) throw tooLarge(part.length, maxBytes)
    if (!parsed.ok) throw invalidEvent('data', null, parsed.problem)
    return refuseServiceAttributes(prepareEvent(parsed.value, parsed.text, isLong(part)))
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

const isSpace = (c: number | undefined): boolean => c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09

/**
 * Splits a JSON array at its commas and returns the bytes of its elements, which are parsed later. Returns null if the
 * text is no array.
 */
async function splitArray(bytes: Buffer, pause: Pause = nextTurn): Promise<Buffer[] | null> {
  let start = 0
  let end = bytes.length
  while (isSpace(bytes[start])) start++
  while (isSpace(bytes[end - 1])) end--
  if (end - start < 2 || bytes[start] !== 0x5b || bytes[end - 1] !== 0x5d) return null
  const parts: Buffer[] = []
  let depth = 0
  let from = start + 1
  let pauseAt = SPLIT_STRETCH
  for (let i = start + 1; i < end - 1; i++) {
    const c = bytes[i]!
    if (i >= pauseAt) {
      pauseAt = i + SPLIT_STRETCH
      await pause()
    }
    if (c === 0x22) for (i++; i < end - 1 && bytes[i] !== 0x22; i++) i += bytes[i] === 0x5c ? 1 : 0
    else if (c === 0x7b || c === 0x5b) depth++
    else if (c === 0x7d || c === 0x5d) depth--
    else if (c === 0x2c && depth === 0) {
      parts.push(trimmed(bytes, from, i))
      from = i + 1
      if (parts.length > MAX_BATCH) return parts
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
