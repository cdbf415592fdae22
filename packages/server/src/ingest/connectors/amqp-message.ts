// Turns an AMQP 1.0 message into an event: a CloudEvent, structured or binary, is kept as it is; other JSON goes
// through the mapping. Pure. A long body is read in steps, with a turn for other work after each.
import { STRUCTURED_TYPE } from '@sensorium/contract'
import rhea, { type Message } from 'rhea'
import {
  eventWithData,
  parseEnvelope,
  prepareEvent,
  removeServiceAttributes,
  type PreparedEvent,
} from '../../events/envelope.ts'
import { tooLarge } from '../../kernel/failure.ts'
import { mediaType } from '../../kernel/media-type.ts'
import { isLong, parseBody } from '../../kernel/json-steps.ts'
import { inSteps, nextTurn } from '../../kernel/step-turns.ts'
import type { Mapper } from '../mapping.ts'
import { checkMessage, Unreadable } from './amqp-encoding.ts'

const ATTRIBUTE = /^cloudEvents[:_]/
const DATA_SECTION = 0x75

/** Reads a message as it came off the wire. Rejects with an error that says why the message must be rejected. */
export async function readMessage(
  bytes: Buffer,
  mapper: Mapper,
  maxBytes: number,
  now: number,
): Promise<PreparedEvent> {
  checkMessage(bytes)
  // rhea's types declare `decode` as if it encoded a message.
  const message = (rhea.message.decode as unknown as (bytes: Buffer) => Message)(bytes)
  const raw = bodyBytes(message.body)
  if (raw.length > maxBytes) throw tooLarge(raw.length, maxBytes)
  const type = mediaType(message.content_type)
  const properties = (message.application_properties ?? {}) as Record<string, unknown>
  if (type === STRUCTURED_TYPE) return structured(raw)
  if (Object.keys(properties).some((name) => ATTRIBUTE.test(name))) return binary(message, properties, type, raw)

  const parsed = await parseBody(raw, { extraDepth: -1, exactNumbers: true })
  if (!parsed.ok) throw new Unreadable(`not a CloudEvent, and not JSON: expected ${parsed.problem}`)
  const steps = mapper.map({
    body: parsed.value,
    raw,
    headers: headersOf(message, properties),
    now,
    fallbackId: idText(message.message_id),
  })
  return inSteps(steps, nextTurn)
}

// The body is one data section, or several to be joined; some clients send the JSON as a string value instead.
function bodyBytes(body: unknown): Buffer {
  if (body === undefined || body === null) return Buffer.alloc(0)
  if (Buffer.isBuffer(body)) return body
  if (typeof body === 'string') return Buffer.from(body)
  const { typecode, content } = body as { typecode?: number; content?: unknown }
  if (typecode === DATA_SECTION) {
    if (Buffer.isBuffer(content)) return content
    if (Array.isArray(content) && content.every((part) => Buffer.isBuffer(part))) return Buffer.concat(content)
  }
  throw new Unreadable('the body is neither bytes nor a string')
}

async function structured(raw: Buffer): Promise<PreparedEvent> {
  const parsed = await parseEnvelope(raw)
  if (!parsed.ok) throw new Unreadable(`a structured CloudEvent: expected ${parsed.problem}`)
  return removeServiceAttributes(prepareEvent(parsed.value, parsed.text, isLong(raw)))
}

async function binary(
  message: Message,
  properties: Record<string, unknown>,
  type: string,
  raw: Buffer,
): Promise<PreparedEvent> {
  const attributes: [name: string, value: unknown][] = []
  for (const [name, value] of Object.entries(properties)) {
    if (!ATTRIBUTE.test(name)) continue
    const attribute = name.slice('cloudEvents:'.length)
    if (attribute === 'data' || attribute === 'data_base64')
      throw new Unreadable(`${name} is not an attribute: the data is the body`)
    attributes.push([attribute, plain(value)])
  }
  if (message.content_type !== undefined) attributes.push(['datacontenttype', message.content_type])
  // An assignment would take a property called `__proto__` for the prototype.
  return removeServiceAttributes(await eventWithData(Object.fromEntries(attributes), type, raw))
}

/** Returns what the mapping sees as `headers`: application and message properties, with names in lower case. */
function headersOf(message: Message, properties: Record<string, unknown>): Record<string, unknown> {
  const headers = Object.entries(properties).map(([name, value]) => [name.toLowerCase(), plain(value)])
  const own = {
    'message-id': idText(message.message_id),
    'correlation-id': idText(message.correlation_id),
    'content-type': message.content_type,
    subject: message.subject,
    to: message.to,
    'reply-to': message.reply_to,
    'group-id': message.group_id,
  }
  return Object.fromEntries([...headers, ...Object.entries(own).filter(([, value]) => typeof value === 'string')])
}

/** Converts a value of an AMQP type to a JSON value. */
function plain(value: unknown): unknown {
  // A timestamp may be far beyond the dates of JavaScript: Java says "never" so.
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'object' && value !== null) return String(value)
  return value
}

// An id is a string, a number, a UUID or bytes. rhea returns numbers too long for JavaScript as bytes too.
function idText(id: unknown): string | null {
  if (typeof id === 'string' && id !== '') return id
  if (typeof id === 'number') return String(id)
  return Buffer.isBuffer(id) && id.length > 0 ? id.toString('hex') : null
}
