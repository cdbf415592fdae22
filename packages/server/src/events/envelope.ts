// The CloudEvents envelope: what every event must satisfy, whichever way it comes in. Pure.
import { isUtf8 } from 'node:buffer'
import { MAX_EVENT_ID } from '@sensorium/contract'
import { invalidEvent, type Failure } from '../kernel/failure.ts'
import { isDateTime, isUriReference } from '../kernel/formats.ts'
import { parseJson, withExactNumbers, type ParsedJson } from '../kernel/json.ts'
import { readMembers, withoutMembers } from '../kernel/json-members.ts'
import { isLong, parseBody } from '../kernel/json-steps.ts'
import { inSteps, nextTurn, type Pause } from '../kernel/step-turns.ts'
import type { Envelope } from '../routing/filter.ts'

/** An event that may be published. `text` is the envelope as JSON, unchanged if it was received as JSON. */
export interface PreparedEvent {
  /** `envelope` lacks data and nested values: they are only in `text`, and parsed may take twenty times its memory. */
  isLong: boolean
  id: string
  type: string
  source: string
  subject: string | null
  causationId: string | null
  /** The `recipient` attribute as received, null if there is none; `addressee.ts` says what is valid. */
  recipient: unknown
  envelope: Envelope
  text: string
}

// Printable characters without spaces, in any script.
const TYPE = /^[^\s\p{C}]{1,255}$/u
const MAX_ATTRIBUTE = 4096

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' &&
  value.length > 0 &&
  value.length <= max * 2 &&
  [...value].length <= max &&
  !value.includes('\0') &&
  value.isWellFormed()

const textOf = (max: number): string =>
  `a non-empty string of at most ${max} characters, without NUL or half surrogate pairs`

/** Attributes whose values are checked; any other attribute may have any value. */
const CHECKED_ATTRIBUTES: ReadonlySet<string> = new Set([
  'specversion',
  'type',
  'source',
  'id',
  'time',
  'subject',
  'datacontenttype',
  'dataschema',
  'data_base64',
  'recipient',
  'replyto',
  'correlationid',
])

/**
 * Which members of a long event are left out. They are known to be JSON, and are parsed when a filter needs them:
 * parsed, they take twenty times the memory of their text.
 */
export const leftOutOfLong = (name: string, isNested: boolean): boolean =>
  name === 'data' || (isNested && !CHECKED_ATTRIBUTES.has(name))

/** Checks an envelope and takes it apart. Throws invalid_event for the first thing that is wrong. */
export function prepareEvent(envelope: unknown, text: string, isLong = false): PreparedEvent {
  if (typeof envelope !== 'object' || envelope === null || Array.isArray(envelope))
    throw invalidEvent('body', envelope, 'a CloudEvents envelope, a JSON object')
  const event = envelope as Envelope
  const { specversion, type, source, id, time, subject, datacontenttype, dataschema } = event
  const { causationid, recipient, replyto, correlationid } = event
  if (specversion !== '1.0') throw invalidEvent('specversion', specversion, 'the string 1.0')
  if (typeof type !== 'string' || !TYPE.test(type))
    throw invalidEvent('type', type, 'a string of 1 to 255 printable characters without spaces')
  if (typeof source !== 'string' || source.length > MAX_ATTRIBUTE || !isUriReference(source))
    throw invalidEvent('source', source, 'a URI reference')
  if (!isText(id, MAX_EVENT_ID)) throw invalidEvent('id', id, textOf(MAX_EVENT_ID))
  if (time !== undefined && (typeof time !== 'string' || !isDateTime(time)))
    throw invalidEvent('time', time, 'an ISO 8601 date-time with a time zone')
  if (subject !== undefined && !isText(subject, MAX_ATTRIBUTE))
    throw invalidEvent('subject', subject, textOf(MAX_ATTRIBUTE))
  if (datacontenttype !== undefined && !isText(datacontenttype, MAX_ATTRIBUTE))
    throw invalidEvent('datacontenttype', datacontenttype, 'a media type')
  if (dataschema !== undefined && (typeof dataschema !== 'string' || !isUriReference(dataschema)))
    throw invalidEvent('dataschema', dataschema, 'a URI')
  if (replyto !== undefined && typeof replyto !== 'string') throw invalidEvent('replyto', replyto, 'a string')
  if (correlationid !== undefined && typeof correlationid !== 'string')
    throw invalidEvent('correlationid', correlationid, 'a string')
  if (event['data_base64'] !== undefined) {
    const base64 = event['data_base64']
    if (typeof base64 !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64.length % 4 !== 0)
      throw invalidEvent('data_base64', base64, 'base64')
    if ('data' in event) throw invalidEvent('data_base64', base64, 'data or data_base64, not both')
  }
  return {
    isLong,
    id,
    type,
    source,
    subject: subject === undefined ? null : subject,
    causationId: isText(causationid, MAX_EVENT_ID) ? causationid : null,
    recipient: recipient ?? null,
    envelope: event,
    text,
  }
}

/** Attributes that only the service may add to a payload. */
const ADDED_BY_SERVICE = ['enrichment', 'original'] as const

/** Removes the attributes that only the service adds. The text of all else stays as it is. Long events take turns. */
export async function removeServiceAttributes(event: PreparedEvent): Promise<PreparedEvent> {
  if (!ADDED_BY_SERVICE.some((name) => Object.hasOwn(event.envelope, name))) return event
  const { enrichment: _, original: __, ...envelope } = event.envelope
  const text = await inSteps(withoutMembers(event.text, ADDED_BY_SERVICE), nextTurn)
  return { ...event, envelope: envelope as Envelope, text }
}

/** Refuses an event with an attribute that the service adds: no publisher may forge it. */
export function refuseServiceAttributes(event: PreparedEvent): PreparedEvent {
  for (const name of ADDED_BY_SERVICE) {
    if (Object.hasOwn(event.envelope, name))
      throw invalidEvent(name, event.envelope[name], 'no attribute of this name: the service adds it')
  }
  return event
}

const isJsonType = (mediaType: string): boolean =>
  mediaType === '' || mediaType === 'application/json' || mediaType.endsWith('+json')

/** Returns the JSON text of an envelope whose data was received apart from its attributes. */
function textWithData(attributes: Readonly<Record<string, unknown>>, data: string): string {
  const text = JSON.stringify(attributes)
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"data":${data}}`
}

const NO_MEMBERS = { names: new Set<string>(), asText: new Set<string>() }

/**
 * Prepares an event whose attributes and data came apart: the binary mode of every wire. JSON data stays as it is; if
 * it is long, it is checked in steps and stays text.
 */
export function eventWithData(
  attributes: Readonly<Record<string, unknown>>,
  mediaType: string,
  raw: Buffer,
  pause: Pause = nextTurn,
): PreparedEvent | Promise<PreparedEvent> {
  if (raw.length === 0) return prepareEvent(attributes, JSON.stringify(attributes))
  if (isJsonType(mediaType)) return isLong(raw) ? withLongData(attributes, raw, pause) : withShortData(attributes, raw)
  // Text becomes a string only if it is UTF-8 and its media type has no parameters.
  const full =
    mediaType.startsWith('text/') && !mediaType.includes(';') && isUtf8(raw)
      ? { ...attributes, data: raw.toString('utf8') }
      : { ...attributes, data_base64: raw.toString('base64') }
  return prepareEvent(full, JSON.stringify(full))
}

const notJson = (raw: Buffer, problem: string): Failure => invalidEvent('data', raw.toString('utf8', 0, 400), problem)

function withShortData(attributes: Readonly<Record<string, unknown>>, raw: Buffer): PreparedEvent {
  // One level less: the data stands inside an envelope.
  const parsed = parseJson(raw, -1)
  if (!parsed.ok) throw notJson(raw, parsed.problem)
  const data = withExactNumbers(parsed.text, parsed.value)
  return prepareEvent({ ...attributes, data }, textWithData(attributes, parsed.text))
}

async function withLongData(
  attributes: Readonly<Record<string, unknown>>,
  raw: Buffer,
  pause: Pause,
): Promise<PreparedEvent> {
  const checked = await readMembers(raw, NO_MEMBERS, -1, pause)
  if (!checked.ok) throw notJson(raw, checked.problem)
  return prepareEvent({ ...attributes, data: undefined }, textWithData(attributes, raw.toString('utf8')), true)
}

const LONG_EVENT = { exactNumbers: true, leaveOut: leftOutOfLong }
const SHORT_EVENT = { exactNumbers: true }

/** Parses an envelope that came as one JSON text. Long ones are parsed in steps, without what is left out of them. */
export const parseEnvelope = (raw: Buffer, pause: Pause = nextTurn): ParsedJson | Promise<ParsedJson> =>
  parseBody(raw, isLong(raw) ? LONG_EVENT : SHORT_EVENT, pause)
