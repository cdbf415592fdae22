// What an operation gives back. A transport turns it into its protocol; where an idempotency key was sent it becomes a
// record.
import type { ResultOf } from '@sensorium/contract'
import type { Failure } from '../kernel/failure.ts'
import type { Sink } from '../outbound/stream.ts'
import type { OpenedStream } from '../outbound/streams.ts'

/** The text of a response but for the metadata of a memory, which the store has anyway. */
export interface StoredMetadata {
  memoryId: string
  /** The change that the response tells of. */
  updatedAt: number
  before: string
  after: string
}

export type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>

export interface OperationResponse {
  /** As the contract has it: 200, 201, 202 or 204; that of the failure where there is one. */
  status: number
  /** The body, as a value. Without it and without `text` there is none. */
  json?: unknown
  /** The body as JSON text that is ready to go out, where building the value again would cost. */
  text?: string
  /**
   * The body as JSON text in pieces, made while it is written: over 1 MiB a piece is asked for when the reader has
   * taken those before. A piece may be bytes of UTF-8. Of such a response nothing is kept under an idempotency key but
   * what `stored` says.
   */
  pieces?: Pieces
  /** Where long metadata is shown: what its record keeps instead of it. */
  stored?: StoredMetadata
  /** What was made, for `existing_resource_id` of a later conflict. */
  resourceId?: string
  /** The body shows a secret once: its record is encrypted. */
  secret?: boolean
  /** This is the response to an earlier call with the same idempotency key. */
  replayed?: boolean
  /** The call was refused, and the refusal may be recorded. `perform` throws it. */
  failure?: Failure
  /**
   * The body is a stream of deliveries, which a transport opens; `token` is what it is verified with while it lasts.
   */
  stream?: (sink: Sink, token: string) => OpenedStream
}

export const ok = (json: unknown): OperationResponse => ({ status: 200, json })

export const created = (json: { id: string }): OperationResponse => ({ status: 201, json, resourceId: json.id })

export const noContent = (): OperationResponse => ({ status: 204 })

export const refused = (failure: Failure): OperationResponse => ({ status: failure.status, failure })

/** The body of a response as a value; null where there is none. */
export async function resultOf<O>(
  { json, text, pieces }: OperationResponse,
  parse: (text: string) => unknown = JSON.parse,
): Promise<ResultOf<O>> {
  if (json !== undefined) return json as ResultOf<O>
  let whole = text ?? ''
  for await (const piece of pieces ?? []) whole += typeof piece === 'string' ? piece : Buffer.from(piece).toString()
  return (whole === '' ? null : parse(whole)) as ResultOf<O>
}
