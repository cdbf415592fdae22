// Limits the pieces that a body arrives in. Node calls us for every chunk, which takes some 3 µs however short the
// chunk is, and one read brings up to 11,000 chunks. Four connections that sent one byte in each chunk took 200 ms of
// every turn of the event loop, and 2 GB of memory for a megabyte each.
import type { IncomingMessage } from 'node:http'
import { type Failure, invalid } from '../kernel/failure.ts'

/** A body may arrive in this many pieces, and in one more for every 64 bytes. */
const FREE_PIECES = 1_024
const BYTES_OF_A_PIECE = 64

export const inTooManyPieces = (): Failure =>
  invalid({
    field: 'body',
    value: null,
    expected: `pieces of ${BYTES_OF_A_PIECE} bytes or more, on the average`,
    example: null,
  })

/**
 * Calls `came` for every piece, and `tooMany` once when there are too many; then nothing more is taken. Pieces are
 * counted where Node delivers them: all pieces of one read are delivered before any reader of the body is called.
 *
 * Only for chunked bodies: a body with a declared length arrives in as many pieces as there were reads. Watching every
 * body made a publish dearer by a fifth, 50 µs: a request with a method of its own has another shape to the engine.
 */
export function watchPieces(request: IncomingMessage, came: () => void, tooMany: () => void): void {
  const push = request.push
  let pieces = 0
  let bytes = 0
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null) return push.call(request, chunk, encoding)
    came()
    bytes += chunk.length
    if (++pieces <= FREE_PIECES + bytes / BYTES_OF_A_PIECE)
      return push.call(request, chunk, encoding)
      // Node does this itself to a body that nobody reads. It also keeps the socket from being read 32 times in a turn.
    ;(request as IncomingMessage & { _dumped: boolean })._dumped = true
    request.socket.pause()
    tooMany()
    return false
  }
}
