// Turns a response into its record, and a record back into the response.
import type { ErrorCode } from '@sensorium/contract'
import { changedSince, keyOfAnother, recordedFailure, type Failure } from '../kernel/failure.ts'
import type { Secrets } from '../kernel/secrets.ts'
import { textsAt } from '../memory/versions.ts'
import { memoryPieces } from '../memory/wire.ts'
import type { Reads } from '../store/db.ts'
import type { RecordRow, RequestKey } from './idempotency-rows.ts'
import type { OperationResponse, Pieces, StoredMemory } from './response.ts'

/** The body of a record: JSON, or a text as it is. */
interface Recorded {
  json?: unknown
  text?: string
  pieces?: Pieces
  /** The headers of a refusal. */
  headers?: Record<string, string>
}

/**
 * The first character of a body that is kept as text; no JSON begins with it. Quoting a memory of 10 MB as JSON took
 * the main thread 20 to 40 ms, and reading it back as long.
 */
const AS_TEXT = '='
/** The first character of a body whose texts are read from the memory. */
const WITH_TEXTS = '&'

interface RecordedError {
  error: { code: ErrorCode; message: string; details: Record<string, unknown> }
}

/**
 * Yields a response that shows a memory. Its texts are read when the response is written: from the memory, or from its
 * history if the memory was changed meanwhile.
 */
export async function* withTexts(
  db: Reads,
  tenantId: string,
  { memoryId, updatedAt, fields, more }: StoredMemory,
  key: string | null,
): AsyncGenerator<string> {
  const texts = await textsAt(db, tenantId, memoryId, updatedAt)
  const pieces = texts && (await memoryPieces(db, { ...fields, ...texts }, more))
  if (!pieces) throw changedSince(key, memoryId)
  yield* pieces
}

/** Returns a refusal as it is recorded. */
export const failureOf = ({ code, message, details, headers }: Failure) => ({
  json: { error: { code, message, details } } satisfies RecordedError,
  headers,
})

interface BatchResult {
  error?: object
}

/** The refused events of a batch name the request too: in a replay it is the present one, as everywhere. */
export function withRequestId(response: OperationResponse, requestId = ''): OperationResponse {
  const { results } = (response.json ?? {}) as { results?: BatchResult[] }
  if (!Array.isArray(results)) return response
  const named = results.map((one) => (one.error ? { error: { ...one.error, request_id: requestId } } : one))
  return { ...response, json: { ...(response.json as object), results: named } }
}

/** Returns the unique name of a request. The body of a response with a secret is sealed for this name. */
export const requestName = (r: RequestKey): string =>
  JSON.stringify([r.tenantId, r.principalId, r.method, r.path, r.key])

interface RecordedResponses {
  rowOf(request: RequestKey, response: OperationResponse): RecordRow
  responseOf(request: RequestKey, row: RecordRow): OperationResponse
}

export function makeRecordedResponses(db: Reads, secrets: Secrets, now: () => number): RecordedResponses {
  function recordedBody({ json, text, stored, failure }: OperationResponse): string {
    if (stored) return WITH_TEXTS + JSON.stringify(stored)
    if (!failure) return text === undefined ? JSON.stringify({ json } satisfies Recorded) : AS_TEXT + text
    return JSON.stringify(failureOf(failure))
  }

  function rowOf(request: RequestKey, response: OperationResponse): RecordRow {
    const body = recordedBody(response)
    return {
      body_hash: request.bodyHash,
      status: response.status,
      body: response.secret ? secrets.seal(body, requestName(request)) : body,
      sealed: response.secret ? 1 : 0,
      resource_id: response.resourceId ?? null,
      key_id: request.keyId,
      created_at: now(),
    }
  }

  function readBody({ tenantId, key }: RequestKey, body: string): Recorded {
    if (body.startsWith(AS_TEXT)) return { text: body.slice(AS_TEXT.length) }
    if (!body.startsWith(WITH_TEXTS)) return JSON.parse(body) as Recorded
    const stored = JSON.parse(body.slice(WITH_TEXTS.length)) as StoredMemory
    return { pieces: withTexts(db, tenantId, stored, key) }
  }

  function responseOf(request: RequestKey, row: RecordRow): OperationResponse {
    if (row.sealed && row.key_id !== request.keyId) throw keyOfAnother(request.key, row.resource_id)
    const body = row.sealed ? secrets.open(row.body, requestName(request)) : row.body
    const { json, text, pieces, headers } = readBody(request, body)
    if (row.status >= 400) {
      const { code, message, details } = (json as RecordedError).error
      return { status: row.status, failure: recordedFailure(code, message, details, headers), replayed: true }
    }
    if (pieces) return { status: row.status, pieces, replayed: true }
    return { status: row.status, ...(text === undefined ? { json } : { text }), replayed: true }
  }

  return { rowOf, responseOf }
}
