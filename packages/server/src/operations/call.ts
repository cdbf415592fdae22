// A call of an operation, as every transport makes it: what was sent, and what the transport knows besides. Nothing
// here is of one protocol.
import type { StopSignal } from '../kernel/stop.ts'
import type { BodyOf, ParamsOf, QueryOf } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { Verdict } from './rate-limit.ts'

/** Stands for whoever needs no principal: the public, and the operator. */
export const NOBODY: Principal = { kind: 'agent', id: '', tenantId: '', keyId: '', scopes: new Set(), teamId: null }
export const OPERATOR: Principal = { ...NOBODY, id: 'operator' }

/** A body that has arrived and has not been read as a value yet: idempotency comes before shape. */
export interface Payload {
  /** No body was sent. */
  readonly isEmpty: boolean
  /** Equal for equal bodies. Of a large one another thread computes it. */
  hash(): string | Promise<string>
  /** The body as the operation takes it, or a promise of it. Throws what is wrong with it as a Failure. */
  read(): unknown
}

/** What was sent. A transport that has values gives `body`; one that has bytes gives `payload`. */
export interface Input {
  readonly params?: Readonly<Record<string, string | undefined>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  /** Called once, when the caller is admitted: until then no byte of the body is read. */
  payload?(): Payload | Promise<Payload>
}

export interface CallOptions {
  /** The same call with the same key is carried out once. */
  readonly idempotencyKey?: string | undefined
  readonly requestId?: string | undefined
  /**
   * Aborted when nobody waits for the response any more, or the node shuts down: the time to respond with what there
   * is.
   */
  signal?(): StopSignal
  /** Whether nobody waits for the response any more: what has not begun need not begin. */
  isGone?(): boolean
  /** Whence the call comes, for limits on callers that have not proved who they are. */
  readonly clientAddress?: string | undefined
  /** The address at which the caller reached the service, for addresses that it is shown. */
  readonly origin?: string | undefined
  /** A field of the body that the operation does not know is refused rather than ignored. */
  readonly strict?: boolean
  /**
   * The caller takes the result as a value and shows the beginning of it: of memories in lists long texts are cut and
   * `metadata` is empty, and of a single one it is where it is long.
   */
  readonly brief?: boolean
  /** Told that `strict` was heeded, before the shape is checked. */
  strictApplied?(): void
  /** Told what is left of the rate limit, also where the call is refused afterwards. */
  limited?(verdict: Verdict): void
}

/** A call that was admitted and whose shape is right: what a handler is given. */
export interface Call<O> {
  principal: Principal
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  options: CallOptions
}
