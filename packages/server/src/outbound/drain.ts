// What is read of a response to a push. The status decides, and its head has told it; a little of the body is read so
// that the connection can be kept for the next push.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Only this much of the body is read, for this long. */
const MAX_DRAINED = 65_536
const DRAIN_MS = 1_000
/**
 * Chunks of a body that are read. Each takes some 2 µs however short it is: 64 KiB in chunks of one byte took 80 ms,
 * and an endpoint is sent 32 requests at once. A body that is short is sent in a few chunks.
 */
const MAX_CHUNKS = 64
/** How much of a read is parsed at once. */
const SLICE_BYTES = 1_024
/** A chunk is delivered in two parts where a slice ends. */
const MAX_PARTS = MAX_CHUNKS + MAX_DRAINED / SLICE_BYTES

/** Reads a little of a body that nobody needs. */
export function drain(response: IncomingMessage, done: () => void): void {
  response.on('error', () => {})
  if (hasNoBody(response)) {
    response.resume()
    return done()
  }
  if (response.headers['transfer-encoding'] !== undefined) endAfterChunks(response)
  let drained = 0
  const enough = setTimeout(() => response.destroy(), DRAIN_MS)
  response.on('data', (chunk: Buffer) => {
    if ((drained += chunk.length) > MAX_DRAINED) response.destroy()
  })
  response.on('close', () => {
    clearTimeout(enough)
    done()
  })
}

const hasNoBody = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 204 || headers['content-length'] === '0'

/**
 * Ends a response that has too many chunks. They are counted where Node delivers them: all chunks of a slice are
 * delivered before the first `data` event.
 */
function endAfterChunks(response: IncomingMessage): void {
  const push = response.push
  let parts = 0
  response.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null || ++parts <= MAX_PARTS) return push.call(response, chunk, encoding)
    // Node marks a body that nobody reads like this, and delivers no more of it.
    Object.assign(response, { _dumped: true })
    response.destroy()
    return false
  }
}

/**
 * Parses what is read from the socket of a push in slices, and nothing more once the exchange has ended. Node parses
 * all of a read, up to 64 KiB, even if its beginning has led us to close the connection, and that took 20 ms.
 */
export function parseInSlices(socket: Socket): void {
  if (Object.hasOwn(socket, 'push')) return
  const push = socket.push
  socket.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null || chunk.length <= SLICE_BYTES) return push.call(socket, chunk, encoding)
    let wantsMore = true
    for (let from = 0; from < chunk.length && !socket.destroyed; from += SLICE_BYTES)
      wantsMore = push.call(socket, chunk.subarray(from, from + SLICE_BYTES), encoding)
    return wantsMore
  }
}
