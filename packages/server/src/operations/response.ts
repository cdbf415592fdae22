// What an operation returns. A transport turns it into its protocol; if an idempotency key was sent, it is also
// recorded.
import type { ResultOf } from '@sensorium/contract'
import type { Item } from '../delivery/long-payloads.ts'
import type { Failure } from '../kernel/failure.ts'
import type { ShortFields } from '../memory/versions.ts'
import type { OpenedStream, Sink } from '../streams/reader.ts'

/** A response that shows a memory, without the texts of the memory, which the store has anyway. */
export interface StoredMemory {
  memoryId: string
  /** Identifies the change that the response reports. */
  updatedAt: number
  fields: ShortFields
  /** JSON text that follows the memory's own fields. */
  more: string
}

export type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>

export interface OperationResponse {
  /** As in the contract: 200, 201, 202 or 204; or the status of the failure, if there is one. */
  status: number
  /** The body as a value. Without `json`, `text`, `pieces` and `stream` there is no body. */
  json?: unknown
  /** The body as JSON text that is ready to be sent, where building a value would cost too much. */
  text?: string
  /**
   * The body as JSON text in pieces, made while it is written: beyond 1 MiB, the next piece is requested when the
   * reader has taken the pieces before it. A piece may be bytes of UTF-8. Such a response is recorded under an
   * idempotency key only if `stored` is set.
   */
  pieces?: Pieces
  /**
   * The items of a list of events, instead of its body: for a brief call, whose caller takes one after the other and
   * cuts it.
   */
  items?: readonly Item[]
  /**
   * Set if the body shows what this call has leased: puts that back, because the body cannot be sent. The leases run
   * already, so the body is sent without waiting for a turn unless it is longer than 1 MiB. No piece is longer than a
   * delivery.
   */
  putBack?: () => Promise<void>
  /** The call changed nothing, though it is no GET: with no room for the response it may be refused. */
  changesNothing?: boolean
  /** What the record keeps of a long response that shows a memory. */
  stored?: StoredMemory
  /** The id of the resource that was made, for `existing_resource_id` of a later conflict. */
  resourceId?: string
  /** The body shows a secret once, so its record is encrypted. */
  secret?: boolean
  /** This is the response to an earlier call with the same idempotency key. */
  replayed?: boolean
  /** The call found nothing to change, so it leaves no entry in the audit log. */
  unchanged?: boolean
  /** The call was refused, and the refusal may be recorded. `perform` throws it. */
  failure?: Failure
  /** The body is a stream, which the transport opens. `token` is verified again while the stream lasts. */
  stream?: (sink: Sink, token: string) => OpenedStream
  /** Called instead of `stream` by a transport that does not open it, because the request was refused meanwhile. */
  unopened?: () => void
}

export const ok = (json: unknown): OperationResponse => ({ status: 200, json })

export const created = (json: { id: string }): OperationResponse => ({ status: 201, json, resourceId: json.id })

export const noContent = (): OperationResponse => ({ status: 204 })

export const refused = (failure: Failure): OperationResponse => ({ status: failure.status, failure })

/** Returns the body of a response as a value, or null if there is none. */
export async function resultOf<O>(
  { json, text, pieces }: OperationResponse,
  parse: (text: string) => unknown = JSON.parse,
): Promise<ResultOf<O>> {
  if (json !== undefined) return json as ResultOf<O>
  let whole = text ?? ''
  for await (const piece of pieces ?? []) whole += typeof piece === 'string' ? piece : Buffer.from(piece).toString()
  return (whole === '' ? null : await parse(whole)) as ResultOf<O>
}
