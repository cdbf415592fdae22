// A stream of deliveries as the response to a request: server-sent events, written as they come.
import type { ServerResponse } from 'node:http'
import type { OperationResponse } from '../operations/response.ts'
import type { Sink } from '../outbound/stream.ts'
import { bearer } from './authenticate.ts'
import type { Exchange } from './exchange.ts'

/** With TCP keep-alive the kernel notices a client that vanished without closing the connection. */
const KEEP_ALIVE_MS = 15_000

const sinkOf = (response: ServerResponse): Sink => ({
  write: (text) => response.destroyed || response.write(text),
  end: (text) => void (response.destroyed || response.end(text)),
  destroy: () => void response.destroy(),
})

/** Opens the stream and writes the head of its response. Throws if no stream can be opened. */
export function streamDeliveries(open: NonNullable<OperationResponse['stream']>, exchange: Exchange): void {
  const { response } = exchange
  // The stream sends in a later turn, after the head below.
  const stream = open(sinkOf(response), bearer(exchange))
  exchange.open(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies that buffer a response before they pass it on would hold back every delivery.
    'x-accel-buffering': 'no',
  })
  response.socket?.setKeepAlive(true, KEEP_ALIVE_MS)
  response.on('drain', stream.drained)
  response.once('close', stream.gone)
  if (response.destroyed) stream.gone()
  response.write(': open\n\n')
}
