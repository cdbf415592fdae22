// Responses that are read as they arrive: streams of events, and exports.
import { ConnectionError, SensoriumError } from './errors.ts'
import { addressOf, failureOf, retrying, unanswered, type Connection, type OperationId } from './request.ts'
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
  const timer = setTimeout(() => late.abort(), connection.timeoutMs)
  const address = addressOf(connection.url, request.operation, request)
  let response: Response
  try {
    response = await connection.fetch(address, {
      headers: { ...request.headers, ...authorization },
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    })
    if (!response.ok) throw failureOf(response, await response.json().catch(() => undefined))
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (error instanceof SensoriumError) throw error
    throw unanswered('GET', address, error, late.signal.aborted && connection.timeoutMs)
  } finally {
    clearTimeout(timer)
  }
  const { body } = response
  if (body && response.headers.get('content-type')?.startsWith(request.type)) return body
  await body?.cancel().catch(() => {})
  throw new ConnectionError(`GET ${address.pathname}: the response is no ${request.type}`)
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
