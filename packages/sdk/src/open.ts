// Responses that are read as they arrive: streams of events, and exports.
import { ConnectionError, SensoriumError } from './errors.ts'
import { addressOf, failureOf, retrying, type Connection, type OperationId } from './request.ts'
import type { Tokens } from './tokens.ts'

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
 * Resolves to the body of the response when it begins; throws a refusal. Both have the time limit of an attempt. The
 * body may take any time; if that of a refusal does not come, its status has to do.
 */
async function begin(
  connection: Connection,
  { signal, ...request }: StreamRequest,
  authorization: Record<string, string>,
): Promise<ReadableStream<Uint8Array>> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error('it did not begin in time')), connection.timeoutMs)
  const { pathname } = addressOf(connection.url, request.operation, {})
  try {
    const response = await connection.fetch(addressOf(connection.url, request.operation, request), {
      headers: { ...request.headers, ...authorization },
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    })
    if (!response.ok) throw failureOf(response, await response.json().catch(() => undefined))
    if (response.body && response.headers.get('content-type')?.startsWith(request.type)) return response.body
    await response.body?.cancel()
    throw new Error(`it is no ${request.type}`)
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (error instanceof SensoriumError) throw error
    throw new ConnectionError(`GET ${pathname}: the stream could not be opened`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the body of a response of the expected type. */
export const openBody = (
  connection: Connection,
  tokens: Tokens,
  request: StreamRequest,
): Promise<ReadableStream<Uint8Array>> =>
  retrying({ ...connection, attempts: request.attempts }, tokens, request.signal, (authorization) =>
    begin(connection, request, authorization),
  )
