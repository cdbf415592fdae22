// A stream of deliveries as the response to a request: server-sent events, written as they come.
import type { ServerResponse } from 'node:http'
import type { OperationResponse } from '../operations/response.ts'
import type { OpenedStream, Sink } from '../streams/reader.ts'
import { bearer } from './authenticate.ts'
import type { Exchange } from './exchange.ts'
import { SLICE_BYTES } from './respond.ts'

/** With TCP keep-alive the kernel notices a client that vanished without closing the connection. */
const KEEP_ALIVE_MS = 15_000
const NOTHING = Buffer.alloc(0)

/**
 * Writes to the response, long texts in slices. Node reports no progress inside one write, so a client that reads a
 * long delivery steadily would look like one that reads nothing.
 */
function inSlices(response: ServerResponse): { sink: Sink; taken(stream: OpenedStream): void } {
  let rest = NOTHING

  function writeSlice(): boolean {
    const slice = rest.subarray(0, SLICE_BYTES)
    rest = rest.subarray(slice.length)
    return response.write(slice)
  }

  /** The client has taken what was written last. */
  function taken(stream: OpenedStream): void {
    if (rest.length === 0) return stream.drained()
    stream.progressed()
    // A client as fast as this process takes each slice while it is written: others have a turn in between.
    setImmediate(() => {
      if (!response.destroyed && !response.writableEnded && writeSlice()) taken(stream)
    })
  }

  const sink: Sink = {
    write(text) {
      if (response.destroyed) return true
      if (text.length <= SLICE_BYTES) return response.write(text)
      rest = Buffer.from(text)
      return writeSlice()
    },
    end(text) {
      if (response.destroyed) return
      // A text after half of a delivery would be read as part of it.
      if (rest.length > 0) response.write(rest)
      rest = NOTHING
      response.end(text)
    },
    destroy: () => void response.destroy(),
  }
  return { sink, taken }
}

/** Opens the stream and writes the head of its response. Throws if no stream can be opened. */
export function streamDeliveries(open: NonNullable<OperationResponse['stream']>, exchange: Exchange): void {
  const { response } = exchange
  const { sink, taken } = inSlices(response)
  // The stream sends in a later turn, after the head below.
  const stream = open(sink, bearer(exchange))
  exchange.open(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies that buffer a response before they pass it on would hold back every delivery.
    'x-accel-buffering': 'no',
  })
  response.socket?.setKeepAlive(true, KEEP_ALIVE_MS)
  response.on('drain', () => taken(stream))
  response.once('close', stream.gone)
  if (response.destroyed) stream.gone()
  response.write(': open\n\n')
}
