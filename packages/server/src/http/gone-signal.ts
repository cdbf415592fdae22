// A signal for code that waits on behalf of a request.
import type { ServerResponse } from 'node:http'
import { Stop, type StopSignal } from '../kernel/stop.ts'

/** Calls `stop` when the node shuts down, or at once if it already is. Returns a function that unregisters it. */
export type OnShutdown = (stop: () => void) => () => void

/** Shared: without a reason each abort creates an error of its own, which costs 20 µs and which nobody reads. */
const GONE = new Error('the client has gone away, or the node shuts down')

/** Returns a signal that stops when the client disconnects before the response, or the node shuts down. */
export function goneSignal(response: ServerResponse, onShutdown: OnShutdown): StopSignal {
  const gone = new Stop()
  const stop = (): void => gone.stop()
  if (response.destroyed) stop()
  const forget = onShutdown(stop)
  response.once('close', () => {
    forget()
    stop()
  })
  return gone
}

/** The same as a standard AbortSignal, for APIs that require one. */
export function abortSignalOf(gone: StopSignal): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort(GONE)
  if (gone.aborted) abort()
  gone.addEventListener('abort', abort)
  return controller.signal
}
