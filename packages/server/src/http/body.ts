// Bodies, read with a limit while they stream in: nothing over the limit is ever held.
import { tooLarge } from '../kernel/failure.ts'
import type { Exchange } from './exchange.ts'

export { jsonDepth, MAX_DEPTH, mediaType, parseJson, type ParsedJson } from '../kernel/json.ts'

/** A body of known length that is longer than this has its room from the beginning. */
const COPIED = 262_144

/**
 * The whole body, or payload_too_large as soon as it is certain. The rest of a refused body is thrown away as it
 * arrives (see respond.ts).
 */
export function readBody(exchange: Exchange, limit: number): Promise<Buffer> {
  const { request: stream } = exchange
  const declared = stream.headers['content-length']
  const length = declared === undefined ? NaN : Number(declared)
  if (length > limit) return Promise.reject(tooLarge(length, limit))
  try {
    // What is announced is taken at once: a body that will not fit is not begun.
    if (declared !== undefined) exchange.room?.grow(length)
  } catch (error) {
    return Promise.reject(error as Error)
  }
  // Most bodies come with their head: once what has arrived is parsed all of it is there, and need not flow.
  return Promise.resolve().then(() => {
    if (exchange.hasResponse || stream.destroyed) throw new Error('the client went away, or was refused')
    return stream.complete && stream.readableLength > 0
      ? arrivedBody(exchange, limit)
      : arrivingBody(exchange, limit, length)
  })
}

/** All of it is there. Listening to a stream for it costs 20 µs. */
function arrivedBody(exchange: Exchange, limit: number): Buffer {
  const bytes = exchange.request.read() as Buffer
  const refusal = refuse(exchange, bytes.length, limit)
  if (refusal) throw refusal
  return bytes
}

/** `length` as it was announced, NaN where it was not. */
function arrivingBody(exchange: Exchange, limit: number, length: number): Promise<Buffer> {
  const { request: stream } = exchange
  const reading = (exchange.reading = { bytes: 0, seconds: 0 })
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    // Copied as it comes: to put ten megabytes together at the end takes 4 ms at once.
    const whole = length > COPIED ? Buffer.allocUnsafeSlow(length) : null
    stream.on('data', (chunk: Buffer) => {
      reading.bytes += chunk.length
      const refusal = refuse(exchange, reading.bytes, limit)
      if (refusal === null) return void (whole ? chunk.copy(whole, reading.bytes - chunk.length) : chunks.push(chunk))
      chunks = []
      stream.removeAllListeners('data')
      exchange.reading = null
      reject(refusal)
    })
    stream.once('end', () => {
      exchange.reading = null
      if (whole) resolve(whole)
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, reading.bytes))
    })
    stream.once('error', reject)
    // Every request closes; only one that did not end is worth an error, whose stack costs as much as the rest of this.
    stream.once('close', () => stream.readableEnded || reject(new Error('the client went away')))
  })
}

/** Why no more of it can be read; null while it can. */
function refuse({ room }: Exchange, bytes: number, limit: number): Error | null {
  if (bytes > limit) return tooLarge(bytes, limit)
  try {
    room?.grow(bytes)
    return null
  } catch (error) {
    return error as Error
  }
}
