// The body of a request on its way to an operation: read with the limit of the operation, its media type checked, and
// turned into a value only when the operation asks for it.
import type { IncomingHttpHeaders } from 'node:http'
import { BATCH_TYPE, type Operation } from '@sensorium/contract'
import { type Failure, invalid, unsupportedMediaType } from '../kernel/failure.ts'
import { readMembers } from '../kernel/json-members.ts'
import type { ParsedJson } from '../kernel/json.ts'
import { mediaType } from '../kernel/media-type.ts'
import { isLong, parseBody } from '../kernel/json-steps.ts'
import { nextTurn, type Pause } from '../kernel/step-turns.ts'
import type { Payload } from '../operations/call.ts'
import { hashBody, hashLarge } from '../operations/idempotency.ts'
import { repeatableOf } from '../operations/repeatable.ts'
import { exampleOf } from '../operations/validate.ts'
import { readBody } from './body.ts'
import type { BodyTurns } from './body-turns.ts'
import { isBinaryMode, readBatch, readEvent } from './cloud-events.ts'
import type { Exchange } from './exchange.ts'
import { imports } from './large-responses.ts'
import { spoolBody } from './spool.ts'

export type BodyLimits = Record<NonNullable<Operation['bodyLimit']> | 'event_batch' | 'small', number>

type ReadPayload = (exchange: Exchange) => Payload | Promise<Payload>

const JSON_ONLY = ['application/json'] as const
const NO_BYTES = Buffer.alloc(0)

/** Turns the bytes of a body into the value that the operation takes. */
type ReadValue = (raw: Buffer, mediaType: string, headers: IncomingHttpHeaders, pause: Pause) => unknown

function readValueOf(operation: Operation, limits: BodyLimits): ReadValue {
  if (operation.id === 'publishEvent') {
    return (raw, type, headers, pause) =>
      type === BATCH_TYPE ? readBatch(raw, limits.event, pause) : readEvent(headers, type, raw, pause)
  }
  // A signed body is passed on as it came.
  if (operation.checksBody) return (raw, _type, headers) => ({ raw, headers })
  const example = operation.body ? exampleOf(operation.body) : null
  const repeatable = repeatableOf(operation)
  const broken = (raw: Buffer, problem: string): Failure => {
    // Of the whole text, if its beginning may end within a password.
    const text = raw.toString('utf8', 0, operation.urlWithUser === undefined ? 1_000 : raw.length)
    return invalid({ field: 'body', value: repeatable.ofPart(text), expected: problem, example })
  }
  if (operation.asText) {
    const members = { names: new Set(Object.keys(operation.body!.properties)), asText: new Set(operation.asText) }
    return async (raw, _type, _headers, pause) => {
      const read = await readMembers(raw, members, 0, pause)
      if (!read.ok) throw broken(raw, read.problem)
      return read.value
    }
  }
  // Unknown members of a long body are checked and left out: their values take twenty times the memory of their text.
  const known = operation.body && new Set(Object.keys(operation.body.properties ?? {}))
  const options = {
    // Half a surrogate pair in an event is refused, as in a publish. Elsewhere it is replaced.
    ...(operation.holdsEvent ? { exactNumbers: true, extraDepth: 1 } : { wellFormed: true }),
    ...(known && known.size > 0 ? { leaveOut: (name: string) => !known.has(name) } : {}),
  }
  return (raw, _type, _headers, pause) => {
    const whole = (parsed: ParsedJson): unknown => {
      if (!parsed.ok) throw broken(raw, parsed.problem)
      return parsed.value
    }
    const parsed = parseBody(raw, options, pause)
    return parsed instanceof Promise ? parsed.then(whole) : whole(parsed)
  }
}

/** The payload of a request that has no body to read. */
const EMPTY_PAYLOAD: Payload = { isEmpty: true, hash: () => hashBody(NO_BYTES), read: () => undefined }

// In the binary mode of CloudEvents the headers are part of the event.
const eventHeaders = (headers: IncomingHttpHeaders): string =>
  JSON.stringify(
    Object.entries(headers)
      .filter(([name]) => name.startsWith('ce-'))
      .sort(),
  )

class BytesPayload implements Payload {
  readonly #raw: Buffer
  readonly #type: string
  readonly #exchange: Exchange
  readonly #isBinary: boolean
  readonly #readValue: ReadValue
  readonly #turns: BodyTurns

  constructor(
    raw: Buffer,
    type: string,
    exchange: Exchange,
    isBinary: boolean,
    readValue: ReadValue,
    turns: BodyTurns,
  ) {
    this.#raw = raw
    this.#type = type
    this.#exchange = exchange
    this.#isBinary = isBinary
    this.#readValue = readValue
    this.#turns = turns
  }

  get isEmpty(): boolean {
    return this.#raw.length === 0
  }

  // In binary mode the media type is part of the event. Otherwise the same JSON under two media types is the same body.
  hash(): string | Promise<string> {
    return this.#isBinary ? hashBody(this.#raw, this.#type, eventHeaders(this.#exchange.headers)) : hashLarge(this.#raw)
  }

  read(): unknown {
    const { headers } = this.#exchange
    if (!isLong(this.#raw)) return this.#readValue(this.#raw, this.#type, headers, nextTurn)
    const pause = this.#turns.pauseOf(this.#exchange)
    return this.#turns.inTurnOf(this.#exchange)(() => this.#readValue(this.#raw, this.#type, headers, pause))
  }
}

function refuseEncoding({ headers }: Exchange, consumes: readonly string[]): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw unsupportedMediaType(`${headers['content-type'] ?? ''}; content-encoding=${encoding}`, consumes)
}

/**
 * A long body waits for its turn before any of it is read, and keeps its turn until the response is over. The wait may
 * take minutes, which do not count toward the time that a body has to arrive.
 */
function readInTurn({ consumes = [] }: Operation, limit: number): ReadPayload {
  const inTurn = imports()
  return (exchange) =>
    new Promise((resolve, reject) => {
      refuseEncoding(exchange, consumes)
      const { headers, response } = exchange
      const type = headers['content-type']
      if (!consumes.includes(mediaType(type))) throw unsupportedMediaType(type ?? '', consumes)
      const over = new Promise<void>((ended) => void response.once('close', ended))
      exchange.awaitsTurn = true
      inTurn(exchange.principal!, async () => {
        exchange.awaitsTurn = false
        if (response.destroyed) return
        resolve(spoolBody(exchange, limit))
        await over
      }).catch(reject)
    })
}

/**
 * A longer body waits for its turn once it has arrived: checking twenty-four of 32 kB at once took 27 ms of one turn.
 */
const SHORT_BODY = 8_192

export function makeReadPayload(operation: Operation, limits: BodyLimits, turns: BodyTurns): ReadPayload {
  if (operation.bodyLimit === 'import') return readInTurn(operation, limits.import)
  const consumes = operation.consumes ?? (operation.body && !operation.checksBody ? JSON_ONLY : [])
  const takesBody = operation.body !== undefined || operation.consumes !== undefined
  const readValue = readValueOf(operation, limits)
  const limit = limits[operation.bodyLimit ?? 'small']
  const hasBatches = operation.bodyLimit === 'event' && operation.consumes?.includes(BATCH_TYPE)

  // A batch may be larger than an event, on the same path.
  const limitOf = ({ headers }: Exchange): number =>
    hasBatches && mediaType(headers['content-type']) === BATCH_TYPE ? limits.event_batch : limit

  const arrived = (exchange: Exchange): Promise<Payload> =>
    readBody(exchange, limitOf(exchange)).then((raw) =>
      raw.length > SHORT_BODY
        ? turns
            .pauseOf(exchange)()
            .then(() => payloadOf(exchange, raw))
        : payloadOf(exchange, raw),
    )

  function payloadOf(exchange: Exchange, raw: Buffer): Payload {
    const { headers } = exchange
    const header = headers['content-type']
    const type = mediaType(header)
    const isBinary = operation.consumes !== undefined && isBinaryMode(headers, type)
    if (consumes.length > 0 && (header !== undefined || raw.length > 0)) {
      refuseEncoding(exchange, consumes)
      if (!isBinary && !consumes.includes(type)) throw unsupportedMediaType(header ?? '', consumes)
    }
    return new BytesPayload(raw, type, exchange, isBinary, readValue, turns)
  }

  if (operation.method === 'GET') return () => EMPTY_PAYLOAD
  return (exchange) => {
    if (exchange.hasBody) return arrived(exchange)
    return takesBody ? payloadOf(exchange, NO_BYTES) : EMPTY_PAYLOAD
  }
}
