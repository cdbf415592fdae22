// Reads bodies with a limit while they stream in: nothing over the limit is ever held.
import { tooLarge } from '../kernel/failure.ts'
import { UNCOUNTED } from './room.ts'
import type { Exchange } from './exchange.ts'

/** A longer body of known length is copied into one buffer as it arrives. */
const PREALLOCATE_FROM = 262_144

/**
 * Returns the whole body. Rejects with payload_too_large as soon as that is certain; the rest of a refused body is
 * discarded as it arrives (see respond.ts).
 */
export function readBody(exchange: Exchange, limit: number): Promise<Buffer> {
  const { request: stream } = exchange
  const declared = stream.headers['content-length']
  const length = declared === undefined ? NaN : Number(declared)
  if (length > limit) return Promise.reject(tooLarge(length, limit))
  const isReserved = exchange.room?.isReserved ?? true
  try {
    // Room for the declared length is taken at once: a body that will not fit is not begun.
    if (declared !== undefined && isReserved) exchange.room?.grow(length)
  } catch (error) {
    return Promise.reject(error as Error)
  }
  // Most bodies arrive with the head of their request: once the bytes that have arrived are parsed, the whole body is
  // there and need not be streamed.
  return Promise.resolve().then(() => {
    if (exchange.hasResponse || stream.destroyed) throw new Error('the client went away, or was refused')
    return stream.complete && stream.readableLength > 0
      ? arrivedBody(exchange, limit)
      : arrivingBody(exchange, limit, length, isReserved)
  })
}

/** Returns a body that is there as a whole. Listening to a stream for it costs 20 µs. */
function arrivedBody(exchange: Exchange, limit: number): Buffer {
  const bytes = exchange.request.read() as Buffer
  const refusal = refuse(exchange, bytes.length, limit)
  if (refusal) throw refusal
  return bytes
}

/**
 * Collects a body while it arrives. `length` is its declared length, NaN if there is none; `isReserved` tells whether
 * there is room for all of it.
 */
function arrivingBody(exchange: Exchange, limit: number, length: number, isReserved: boolean): Promise<Buffer> {
  const { request: stream } = exchange
  const reading = (exchange.reading = { bytes: 0, seconds: 0 })
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    // Copied as it arrives: putting ten megabytes together at the end takes 4 ms at once.
    let whole: Buffer | null = length > PREALLOCATE_FROM ? Buffer.allocUnsafeSlow(isReserved ? length : 0) : null
    stream.on('data', (chunk: Buffer) => {
      reading.bytes += chunk.length
      const refusal = refuse(exchange, reading.bytes, limit)
      if (refusal === null) {
        if (whole === null) return void chunks.push(chunk)
        whole = withRoomFor(reading.bytes, whole, length)
        return void chunk.copy(whole, reading.bytes - chunk.length)
      }
      chunks = []
      whole = null
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
    // Every request closes. Only one that did not end gets an error, whose stack costs as much as the rest of this.
    stream.once('close', () => stream.readableEnded || reject(new Error('the client went away')))
  })
}

/** Returns the buffer, or a copy of it that is at least twice as long and has room for so many bytes. */
function withRoomFor(bytes: number, buffer: Buffer, length: number): Buffer {
  if (bytes <= buffer.length) return buffer
  const longer = Buffer.allocUnsafeSlow(Math.min(length, Math.max(bytes, 2 * buffer.length, UNCOUNTED)))
  buffer.copy(longer)
  return longer
}

/** Returns why no more of a body may be read, null while more may. */
function refuse({ room }: Exchange, bytes: number, limit: number): Error | null {
  if (bytes > limit) return tooLarge(bytes, limit)
  try {
    room?.grow(bytes)
    return null
  } catch (error) {
    return error as Error
  }
}
