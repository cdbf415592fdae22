// Responses that are read as they arrive: streams of events, and exports.
import { ConnectionError, SensoriumError } from './errors.ts'
import { addressOf, failureOf, waitAfter, type Connection, type OperationId } from './request.ts'
import type { Tokens } from './tokens.ts'
import { orAborted, sleep } from './wait.ts'

export interface StreamRequest {
  operation: OperationId
  query: Record<string, unknown>
  headers: Record<string, string>
  /** The expected media type, which the page of a gateway does not have. */
  type: string
  attempts: number | undefined
  signal: AbortSignal | undefined
}

/**
 * Resolves to the body of the response when it begins, or to the refusal. Both have the time limit of an attempt. The
 * body may take any time; if that of a refusal does not come, its status has to do.
 */
async function begin(
  connection: Connection,
  { signal, ...request }: StreamRequest,
  token: string,
): Promise<ReadableStream<Uint8Array> | SensoriumError> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error('it did not begin in time')), connection.timeoutMs)
  const { pathname } = addressOf(connection.url, request.operation, {})
  try {
    const response = await connection.fetch(addressOf(connection.url, request.operation, request), {
      headers: { ...request.headers, authorization: `Bearer ${token}` },
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    })
    if (!response.ok) {
      const refusal = failureOf(response, await response.json().catch(() => undefined))
      signal?.throwIfAborted()
      return refusal
    }
    if (response.body && response.headers.get('content-type')?.startsWith(request.type)) return response.body
    await response.body?.cancel()
    throw new Error(`it is no ${request.type}`)
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw new ConnectionError(`GET ${pathname}: the stream could not be opened`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the body of a response of the expected type. A token that the service refuses is renewed once. */
export async function openBody(
  connection: Connection,
  tokens: Tokens,
  request: StreamRequest,
): Promise<ReadableStream<Uint8Array>> {
  const { attempts, signal } = request
  let renewed = false
  let waitedMs = 0
  for (let tried = 1; ; tried++) {
    const token = await orAborted(tokens.get(), signal)
    let failure: unknown
    try {
      const refusal = await begin(connection, request, token)
      if (!(refusal instanceof SensoriumError)) return refusal
      if (refusal.status === 401 && !renewed && tokens.refused(token)) {
        renewed = true
        continue
      }
      failure = refusal
    } catch (error) {
      failure = error
    }
    const ms = waitAfter(failure, { ...connection, attempts }, tried, waitedMs)
    if (ms === null) throw failure
    await sleep(ms, signal)
    waitedMs += ms
  }
}
