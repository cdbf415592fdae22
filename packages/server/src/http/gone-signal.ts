// A signal for whoever waits on behalf of a request.
import type { ServerResponse } from 'node:http'
import { Stop, type StopSignal } from '../kernel/stop.ts'

/** Calls `stop` when the node shuts down, at once if it does already; gives back how to take that back. */
export type WhenLeaving = (stop: () => void) => () => void

/** One for all: without a reason each abort makes an error of its own, which costs 20 µs and nobody reads. */
const GONE = new Error('the client has gone away, or the node shuts down')

/** Stopped when the client goes away before the response, or the node shuts down. */
export function goneSignal(response: ServerResponse, whenLeaving: WhenLeaving): StopSignal {
  const gone = new Stop()
  const stop = (): void => gone.stop()
  if (response.destroyed) stop()
  const forget = whenLeaving(stop)
  response.once('close', () => {
    forget()
    stop()
  })
  return gone
}

/** The same for who needs the platform's own. */
export function abortSignalOf(gone: StopSignal): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort(GONE)
  if (gone.aborted) abort()
  gone.addEventListener('abort', abort)
  return controller.signal
}
