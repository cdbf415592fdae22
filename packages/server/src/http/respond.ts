// Writes responses. A long one is written in slices, each after the client has taken the one before, so that a slow
// client costs the memory of one slice and its progress can be seen. A response in pieces is never whole in memory.
import type { ServerResponse } from 'node:http'
import { WHOLE_LENGTH } from '../kernel/lengths.ts'
import { nextTurn, turnAfter } from '../kernel/step-turns.ts'
import type { Pieces } from '../operations/response.ts'
import { type Exchange, JSON_TYPE } from './exchange.ts'
import { UNCOUNTED } from './room.ts'

type Headers = Readonly<Record<string, string>> | undefined

/** A client must take this much in 30 seconds (see slow-peers.ts): 9 kB a second. */
export const SLICE_BYTES = 262_144
/** After as much as this, others have their turn: SQLite has every piece at once. */
const MADE_IN_TURN = 65_536
/** How much of an unwanted body is read, so that its sender gets to read the response. */
const MOST_DISCARDED_BYTES = 33_554_432

/** Sends the whole response; the text, if any, is its body. */
export function sendText(
  exchange: Exchange,
  status: number,
  headers: Headers,
  text: string | Uint8Array | undefined,
  type = JSON_TYPE,
): void {
  sendWhole(exchange, status, headers, text, type, SLICE_BYTES)
}

/** The same; a body longer than `sliced` is written in slices. The promise resolves when the client has taken them. */
function sendWhole(
  exchange: Exchange,
  status: number,
  headers: Headers,
  text: string | Uint8Array | undefined,
  type: string,
  sliced: number,
): Promise<void> | undefined {
  exchange.hasResponse = true
  const bytes = text !== undefined && text.length > sliced ? bytesOf(text) : null
  if (text !== undefined) {
    exchange.header('content-type', type)
    exchange.header('content-length', String(bytes?.length ?? Buffer.byteLength(text)))
  } else if (status !== 204) exchange.header('content-length', '0')
  const response = exchange.open(status, headers)
  if (bytes !== null && exchange.method !== 'HEAD') return writeSlices(response, bytes).then(() => finish(exchange))
  finish(exchange, text)
  return undefined
}

/** Bytes are not copied: they may be a page that many ask for at once. */
const bytesOf = (text: string | Uint8Array): Buffer =>
  typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength)

/**
 * Makes a body as far as it would be sent as one text. Returns its pieces: in an array, if there are no more. `hold` is
 * told how long it has become.
 */
export async function begunPieces(pieces: Pieces, hold: (length: number) => void = () => {}): Promise<Pieces> {
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
  const begun: (string | Uint8Array)[] = []
  const pause = turnAfter(MADE_IN_TURN)
  for (let length = 0; length <= WHOLE_LENGTH; ) {
    const { done, value } = await iterator.next()
    if (done) return begun
    begun.push(value)
    length += value.length
    hold(length)
    await pause(value.length)
  }
  async function* all(): AsyncGenerator<string | Uint8Array> {
    try {
      yield* begun.splice(0)
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
    } finally {
      void iterator.return?.()
    }
  }
  return all()
}

/**
 * Sends a body that is made while it is sent. Rejects if making it fails: the response is then cut off or not begun.
 * Resolves when the client has taken it, but for the last 64 KiB.
 */
export async function sendPieces(exchange: Exchange, status: number, pieces: Pieces, type = JSON_TYPE): Promise<void> {
  const { response } = exchange
  const pause = turnAfter(MADE_IN_TURN)
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
  const made = gather()
  let isOpen = false
  function open(): void {
    if (isOpen) return
    exchange.header('content-type', type)
    exchange.open(status, undefined)
    isOpen = true
  }
  try {
    for (;;) {
      const next = iterator.next()
      const { done, value } = next instanceof Promise ? await next : next
      if (!done) await pause(value.length)
      if (response.destroyed || (exchange.hasResponse && !isOpen)) return
      if (done) break
      made.add(value)
      if (made.length <= (isOpen ? SLICE_BYTES : WHOLE_LENGTH)) continue
      open()
      if (exchange.method === 'HEAD') break
      for (const bytes of made.take()) await writeSlices(response, bytes)
    }
  } finally {
    void iterator.return?.()
  }
  if (!isOpen) return sendWhole(exchange, status, undefined, made.takeWhole(), type, UNCOUNTED)
  exchange.hasResponse = true
  finish(exchange, exchange.method === 'HEAD' ? undefined : made.takeWhole())
}

/** Gathers pieces. Bytes stay bytes: to decode a megabyte takes 3 ms, and then to encode it 2. */
function gather() {
  let parts: Buffer[] = []
  let inParts = 0
  let text = ''
  function endPart(): void {
    if (text === '') return
    inParts += text.length
    parts.push(Buffer.from(text))
    text = ''
  }
  function take(): Buffer[] {
    endPart()
    const all = parts
    parts = []
    inParts = 0
    return all
  }
  return {
    /** In bytes, as far as the text is ASCII. */
    get length() {
      return inParts + text.length
    },
    add(piece: string | Uint8Array): void {
      if (typeof piece === 'string') return void (text += piece)
      endPart()
      inParts += piece.length
      parts.push(bytesOf(piece))
    },
    take,
    takeWhole(): string | Uint8Array {
      if (parts.length > 0) return Buffer.concat(take())
      const whole = text
      text = ''
      return whole
    },
  }
}

// A client as fast as this process takes a slice while it is written, and no turn of the event loop would pass: so each
// slice is followed by a turn.
async function writeSlices(response: ServerResponse, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length && !response.destroyed; at += SLICE_BYTES) {
    if (!response.write(bytes.subarray(at, at + SLICE_BYTES))) await taken(response)
    await nextTurn()
  }
}

/** Resolves when the client has caught up, or has disconnected. */
function taken(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

/**
 * Ends the response. While the request body is still arriving, the end waits for it: a connection that is closed while
 * its client sends is reset, and the response is lost. The client has the whole response in the meantime, and the
 * request holds no place once it is taken: what is discarded is bounded by its time and size, and by the connections
 * that an address may have.
 */
function finish(exchange: Exchange, text?: string | Uint8Array): void {
  const { request, response } = exchange
  // Nothing more is expected of a request that is broken or too slow.
  if (!exchange.isBodyOutstanding || exchange.closesConnection || response.destroyed) return void response.end(text)
  if (text) response.write(text)
  else response.flushHeaders()
  const discarding = (exchange.discarding = { bytes: 0, seconds: 0, seen: 0, silentSeconds: 0 })
  if (response.writableNeedDrain) void taken(response).then(() => exchange.answered())
  else exchange.answered()
  const end = (): void => void response.end()
  request.on('data', (chunk: Buffer) => {
    discarding.bytes += chunk.length
    if (discarding.bytes > MOST_DISCARDED_BYTES) request.destroy()
  })
  request.once('end', end).once('close', end).once('error', end)
  request.resume()
}
