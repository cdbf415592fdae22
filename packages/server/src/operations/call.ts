// A call of an operation, as every transport makes it: what was sent, and what else the transport knows. Nothing here
// is specific to one protocol.
import type { StopSignal } from '../kernel/stop.ts'
import type { BodyOf, ParamsOf, QueryOf } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { Verdict } from '../limits/rate-limit.ts'

/** Stands for callers that have no principal: the public, and the operator. */
export const NOBODY: Principal = { kind: 'agent', id: '', tenantId: '', keyId: '', scopes: new Set(), teamId: null }
export const OPERATOR: Principal = { ...NOBODY, id: 'operator' }

/** A body that has arrived and has not been parsed yet: idempotency comes before shape. */
export interface Payload {
  /** No body was sent. */
  readonly isEmpty: boolean
  /** Returns a hash that is equal for equal bodies. That of a large body is computed on another thread. */
  hash(): string | Promise<string>
  /** Returns the body as the operation takes it, or a promise of it. Throws a Failure if the body is wrong. */
  read(): unknown
}

/** What was sent. A transport that has values sets `body`; one that has bytes sets `payload`. */
export interface Input {
  readonly params?: Readonly<Record<string, string | undefined>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  /** Called once, when the caller is admitted: no byte of the body is read before. */
  payload?(): Payload | Promise<Payload>
}

export interface CallOptions {
  /** The same call with the same key is carried out once. */
  readonly idempotencyKey?: string | undefined
  readonly requestId?: string | undefined
  /**
   * Aborted when the caller no longer waits for the response, or the node shuts down. The operation then responds with
   * what it has.
   */
  signal?(): StopSignal
  /** Returns whether the caller no longer waits for the response, so that work need not be started for it. */
  isClientGone?(): boolean
  /** Throws or rejects if the caller's token has ended since. For work of many steps. */
  requireStanding?(): void | Promise<void>
  /** The client's network address, for limits on callers that are not authenticated. */
  readonly clientAddress?: string | undefined
  /** The URL at which the caller reached the service, for URLs in responses. */
  readonly origin?: string | undefined
  /** A field of the body that the operation does not know is refused rather than ignored. */
  readonly strict?: boolean
  /**
   * The caller takes the result as a value and shows the beginning of it: in a list, memories have long texts cut and
   * `metadata` empty; a single memory has `metadata` empty if it is long. A list of events is `items`.
   */
  readonly brief?: boolean
  /** Called when `strict` is applied, before the shape is checked. */
  strictApplied?(): void
  /** Called with what is left of the rate limit, even if the call is refused afterwards. */
  limited?(verdict: Verdict): void
}

/** Returns whether the caller has gone away, for work that waits; a transport that cannot know of it says nothing. */
export const goneOf = (options: CallOptions) => (): boolean => options.isClientGone?.() ?? false

/** Returns the principal for work that waits its turn, and that is given up when the client has gone away. */
export const waitingPrincipal = ({ principal, options }: Pick<Call<never>, 'principal' | 'options'>) => ({
  ...principal,
  isGone: goneOf(options),
})

/** A call that was admitted and whose shape is right, as a handler receives it. */
export interface Call<O> {
  principal: Principal
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  options: CallOptions
}
