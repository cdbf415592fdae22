// One call of an operation: the token, the attempts, and the result as a typed response or a typed error.
//
// 1. Every attempt of a POST or PATCH carries the same Idempotency-Key, so a retry never does the work twice.
// 2. Retried: no response, a response that broke off, 408, 429 and 5xx. Any other response is the result. A service
//    that is away is waited for longer than one that responds with an error.
// 3. A redirect is not followed: it would carry a key or a token to another address.
// 4. A retried DELETE that gets a 404 has succeeded: an earlier attempt did the work.
import { OPERATIONS, type Operations } from './contract.ts'
import { askedWait, ConnectionError, notFound, SensoriumError, type ErrorBody } from './errors.ts'
import type { Tokens } from './tokens.ts'
import { backoff, isLast, orAborted, rest, sleep } from './wait.ts'

export type OperationId = keyof Operations

export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Generated for each call if left out. All attempts of the call share it. */
  idempotencyKey?: string | undefined
  /** Identifies the request in the log of the service. */
  requestId?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

type Empty<T> = keyof T extends never ? true : false
type Part<K extends string, T> = undefined extends T ? { [key in K]?: T } : { [key in K]: T }
type Loose<K extends string, T> =
  Empty<T> extends true ? { [key in K]?: T } : Partial<T> extends T ? { [key in K]?: T } : { [key in K]: T }

/** The input of an operation: path parameters, query and body, as far as the operation has them. */
export type Input<O extends OperationId> = Loose<'params', Operations[O]['params']> &
  Loose<'query', Operations[O]['query']> &
  Part<'body', Operations[O]['body']>

export type Call = <O extends OperationId>(
  operation: O,
  input: Input<O>,
  options?: CallOptions,
) => Promise<Operations[O]['response']>

export interface Connection {
  url: string
  fetch: typeof fetch
  /** The total number of attempts of a call. If it is undefined, `isLast` decides. */
  attempts: number | undefined
  /** The longest wait in seconds that the service may ask for. */
  maxRetryAfter: number
  /** How long one attempt may take before it times out. The `wait` of a poll is added to it. */
  timeoutMs: number
  /** Called before a call waits to be tried again. */
  onRetry: ((error: unknown, waitMs: number) => void) | undefined
  /** Parses the JSON of responses and streams. */
  parse(text: string): unknown
}

interface Parts {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
}

/** Rejects `.` and `..`: a URL resolves them even when they are encoded, and would name another resource. */
function segmentOf(name: string, value: string): string {
  if (value === '.' || value === '..')
    throw notFound(`No address can name the ${name} ${value}`, { resource_id: value })
  return encodeURIComponent(value)
}

/** Returns the URL of an operation, with its path parameters and query. */
export function addressOf(url: string, operation: OperationId, { params = {}, query = {} }: Parts): URL {
  const template = OPERATIONS[operation].split(' ')[1]!
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, params[name]!))
  const address = new URL(url + path)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, String(value))
  }
  return address
}

/** Returns the status of the response. That of a failed connection is the one that a gateway would give it. */
const statusOf = (error: unknown): number =>
  error instanceof SensoriumError ? error.status : error instanceof ConnectionError ? 503 : 0

/** Whether the same call may succeed when it is retried. */
export const isRetryable = (error: unknown): boolean => statusOf(error) >= 500 || [408, 429].includes(statusOf(error))

/** Whether nobody is there at the moment: no connection, a service that drains, or a gateway that finds none. */
const isAway = (error: unknown): boolean => [502, 503, 504].includes(statusOf(error))

/**
 * Returns for how many milliseconds a call waits before it is tried again, or null if it is not and its error is the
 * result.
 */
function waitAfter(
  error: unknown,
  { attempts, maxRetryAfter }: Pick<Connection, 'attempts' | 'maxRetryAfter'>,
  tried: number,
  waitedMs: number,
): number | null {
  if (!isRetryable(error) || isLast(attempts, tried, waitedMs, isAway(error))) return null
  const asked = askedWait(error)
  return asked > maxRetryAfter ? null : backoff(tried - 1, asked)
}

/** Returns the error of an attempt without a response: the time of `lateAfterMs` was over, or the connection failed. */
export function unanswered(method: string, address: URL, error: unknown, lateAfterMs: number | false): ConnectionError {
  // Node.js has the reason in the cause of "fetch failed"; a browser does not tell it.
  const { code } = ((error as Error | undefined)?.cause ?? {}) as { code?: string }
  const failed = `the connection to ${address.host} failed${code ? ` (${code})` : ''}`
  const what = lateAfterMs ? `no response within ${lateAfterMs / 1000} s` : failed
  return new ConnectionError(`${method} ${address.pathname}: ${what}`, { cause: error })
}

async function attempt(
  connection: Connection,
  address: URL,
  init: RequestInit,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<unknown> {
  const limit = AbortSignal.timeout(timeoutMs)
  let response: Response
  let text: string
  try {
    response = await connection.fetch(address, {
      ...init,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    text = await response.text()
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw unanswered(init.method!, address, error, limit.aborted && timeoutMs)
  }
  let body: unknown
  try {
    const isLines = response.headers.get('content-type')?.startsWith(LINES)
    body = isLines || response.status === NO_CONTENT ? text || undefined : connection.parse(text)
  } catch (error) {
    // A gateway in between may respond with a body of its own. A success that is not complete JSON broke off midway.
    if (response.ok && error instanceof SyntaxError)
      throw new ConnectionError(`${init.method} ${address.pathname}: the response broke off`, { cause: error })
    if (response.ok) throw error
  }
  if (response.ok) return body
  throw failureOf(response, body)
}

/**
 * Waits before the next of many rounds, after `failures` rounds and this one failed; not at all once the signal is
 * aborted. Throws the error if the service refuses this client for good, so that no further round can help. A gateway
 * that has lost its service for a moment may refuse anything, and a 401 is final if the round before had one too.
 */
export async function restAfter(
  error: unknown,
  failures: number,
  report: ((error: unknown) => void) | undefined,
  signal: AbortSignal | undefined,
  last = error,
): Promise<void> {
  if (signal?.aborted) return
  const isFinal = error instanceof SensoriumError && error.isOfService && !isRetryable(error)
  if (isFinal && (error.status !== 401 || statusOf(last) === 401)) throw error
  report?.(error)
  await rest(failures, askedWait(error), signal)
}

/** Returns the seconds of a Retry-After header. A gateway may send a date instead. */
function retryAfterOf(value: string | null): number | null {
  const seconds = Number(value || Number.NaN)
  if (Number.isFinite(seconds)) return seconds
  const date = Date.parse(value ?? '')
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000)
}

export function failureOf(response: Response, body: unknown): SensoriumError {
  const error = (body as { error?: Partial<ErrorBody> } | undefined)?.error ?? {}
  const { headers, status } = response
  return new SensoriumError(status, error, headers.get('x-request-id'), retryAfterOf(headers.get('retry-after')))
}

/** The type of JSON lines, which are sent and received as text. */
export const LINES = 'application/x-ndjson'
/** The one success that has no body. */
const NO_CONTENT = 204

/**
 * Returns the text whose characters are the UTF-8 bytes of `key`. A header carries bytes, and the service reads those
 * of an Idempotency-Key as UTF-8.
 */
const asBytes = (key: string): string => String.fromCharCode(...new TextEncoder().encode(key))

/** Throws a TypeError if a value cannot be in a header. From fetch, it would look like a connection that failed. */
export function headersOf(method: string, body: unknown, options: CallOptions): Record<string, string> {
  const headers = {
    accept: `application/json, ${LINES}`,
    prefer: 'handling=strict',
    ...(body === undefined ? {} : { 'content-type': typeof body === 'string' ? LINES : 'application/json' }),
    ...(method === 'POST' || method === 'PATCH'
      ? { 'idempotency-key': asBytes(options.idempotencyKey ?? crypto.randomUUID()) }
      : {}),
    ...(options.requestId === undefined ? {} : { 'x-request-id': options.requestId }),
    ...options.headers,
  }
  new Headers(headers)
  return headers
}

/** Attempts a call until it succeeds or its error is the result. A token that the service refuses is renewed once. */
export async function retrying<T>(
  limits: Pick<Connection, 'attempts' | 'maxRetryAfter' | 'onRetry'>,
  tokens: Tokens | null,
  signal: AbortSignal | undefined,
  send: (authorization: Record<string, string>) => Promise<T>,
): Promise<T> {
  let renewed = false
  let waitedMs = 0
  for (let tried = 1; ; tried++) {
    const token = tokens && (await orAborted(tokens.get(), signal))
    try {
      return await send(token === null ? {} : { authorization: `Bearer ${token}` })
    } catch (error) {
      const isRefused = token !== null && statusOf(error) === 401
      // Only once: a revoked key gets no further token, and its exchange fails.
      if (isRefused && !renewed && tokens!.refused(token)) {
        renewed = true
        continue
      }
      const ms = waitAfter(error, limits, tried, waitedMs)
      if (ms === null) throw error
      limits.onRetry?.(error, ms)
      await sleep(ms, signal)
      waitedMs += ms
    }
  }
}

export function makeCall(connection: Connection, tokens: Tokens | null): Call {
  return async (operation, input, options = {}) => {
    const parts: Parts = input
    const { signal } = options
    const method = OPERATIONS[operation].split(' ')[0]!
    const address = addressOf(connection.url, operation, parts)
    const headers = headersOf(method, parts.body, options)
    const text = typeof parts.body === 'string' ? parts.body : JSON.stringify(parts.body)
    const init: RequestInit = { method, body: text ?? null }
    const timeoutMs = connection.timeoutMs + (Number(parts.query?.['wait']) || 0) * 1000
    // Whether an earlier attempt may have been carried out although its response did not say so.
    let maybeDone = false
    return retrying(connection, tokens, signal, async (authorization) => {
      try {
        const authorized = { ...init, headers: { ...headers, ...authorization } }
        return (await attempt(connection, address, authorized, timeoutMs, signal)) as never
      } catch (error) {
        const status = statusOf(error)
        if (status === 404 && method === 'DELETE' && maybeDone) return undefined as never
        maybeDone ||= status >= 500
        throw error
      }
    })
  }
}
