// Writes a response. A long one is written in slices, each after the one before was taken, so that a slow reader costs
// the memory of a slice and its progress can be seen; one that comes in pieces is never whole in memory.
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Pieces } from '../operations/response.ts'
import { type Exchange, JSON_TYPE } from './exchange.ts'

type Headers = Readonly<Record<string, string>> | undefined

/** A reader must take this much in 30 seconds (see connections.ts): 9 kB a second. */
const SLICE_BYTES = 262_144
/** Pieces that come to no more than this are sent as one text, with its length. */
const WHOLE_LENGTH = 1_048_576
/** So much of a body that nobody wants is read, so that its sender gets to read the response. */
const MOST_DISCARDED_BYTES = 33_554_432

/** Sends the whole response; the text, if any, is its body. */
export function sendText(
  exchange: Exchange,
  status: number,
  headers: Headers,
  text: string | Uint8Array | undefined,
  type = JSON_TYPE,
): void {
  exchange.hasResponse = true
  const bytes = text !== undefined && text.length > SLICE_BYTES ? Buffer.from(text) : null
  if (text !== undefined) {
    exchange.header('content-type', type)
    exchange.header('content-length', String(bytes?.length ?? Buffer.byteLength(text)))
  } else if (status !== 204) exchange.header('content-length', '0')
  const response = exchange.open(status, headers)
  if (bytes === null || exchange.method === 'HEAD') return finish(exchange, text)
  void writeSlices(response, bytes).then(() => finish(exchange))
}

/** Sends a body that is made while it is sent. Rejects when making it fails; then the response is cut or not begun. */
export async function sendPieces(
  exchange: Exchange,
  status: number,
  headers: Headers,
  pieces: Pieces,
  type = JSON_TYPE,
): Promise<void> {
  const { response } = exchange
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
  let text = ''
  let isOpen = false
  function open(): void {
    if (isOpen) return
    exchange.header('content-type', type)
    exchange.open(status, headers)
    isOpen = true
  }
  try {
    for (;;) {
      // What is there already costs no turn: most bodies are short and whole.
      const next = iterator.next()
      const { done, value } = next instanceof Promise ? await next : next
      if (response.destroyed || (exchange.hasResponse && !isOpen)) return
      if (done) break
      const bytes = typeof value === 'string' ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      const isLong = bytes !== null && text.length + bytes.length > WHOLE_LENGTH
      if (!isLong) {
        text += bytes ?? (value as string)
        if (text.length <= (isOpen ? SLICE_BYTES : WHOLE_LENGTH)) continue
      }
      open()
      if (exchange.method === 'HEAD') break
      await writeSlices(response, Buffer.from(text))
      if (isLong) await writeSlices(response, bytes)
      text = ''
    }
  } finally {
    void iterator.return?.()
  }
  if (!isOpen) return sendText(exchange, status, headers, text, type)
  exchange.hasResponse = true
  finish(exchange, exchange.method === 'HEAD' ? undefined : text)
}

// A reader that is as fast as we are takes a slice while it is written, and no turn of the event loop would pass: so one
// is made to pass after each.
async function writeSlices(response: ServerResponse, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length && !response.destroyed; at += SLICE_BYTES) {
    if (!response.write(bytes.subarray(at, at + SLICE_BYTES))) await taken(response)
    await nextTurn()
  }
}

/** Resolves when the reader has caught up, or is gone. */
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
 * Ends the response. While a body is still arriving the end waits for it: a connection that is closed on a sender is
 * reset, and what was written to it is lost with the rest. The client has the whole response meanwhile.
 */
function finish(exchange: Exchange, text?: string | Uint8Array): void {
  const { request, response } = exchange
  // Of what is broken or too slow nothing more is expected.
  if (!exchange.isBodyOutstanding || exchange.isLast || response.destroyed) return void response.end(text)
  if (text) response.write(text)
  else response.flushHeaders()
  const discarding = (exchange.discarding = { bytes: 0, seconds: 0, seen: 0, silentSeconds: 0 })
  const end = (): void => void response.end()
  request.on('data', (chunk: Buffer) => {
    discarding.bytes += chunk.length
    if (discarding.bytes > MOST_DISCARDED_BYTES) request.destroy()
  })
  request.once('end', end).once('close', end).once('error', end)
  request.resume()
}
