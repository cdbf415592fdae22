// A route binds an operation of the contract to its handler. The door does the rest: who is calling, limits, scope,
// size and type of the body, idempotency, shape. A handler sees only requests that passed all of it.
//
//   read   is given the store write  is given a transaction; the record of its answer commits with it own    does its
//   own transaction (micro-batches, streams) and calls `remember` inside it where one is given
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { BodyOf, Operation, ParamsOf, QueryOf } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { Db } from '../store/db.ts'
import type { Answer } from './answer.ts'
import type { Remember } from './idempotency.ts'

export interface Call<O> {
  principal: Principal
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  /** The body as it came, and its media type. */
  raw: Buffer
  mediaType: string
  headers: IncomingHttpHeaders
  requestId: string
  /** The caller's address. */
  address: string
  /**
   * Aborted when the client goes away before the answer, or the node shuts down: the time to answer with what there is.
   */
  gone(): AbortSignal
  /** Runs once the transaction is on disk. */
  afterCommit(run: () => void): void
  /** Writes the head of a stream, which writes the rest of its response itself. */
  openStream(headers: Readonly<Record<string, string>>): ServerResponse
  /** The response, before that. */
  response: ServerResponse
}

export type Handler<O, Given> = (call: Call<O>, given: Given) => Promise<Answer>

interface Kinds {
  read: Db
  write: Db
  own: Remember | null
}

export type Route = {
  [K in keyof Kinds]: { operation: Operation; kind: K; handle: Handler<never, Kinds[K]> }
}[keyof Kinds]

const bind =
  <K extends keyof Kinds>(kind: K) =>
  <O extends Operation>(operation: O, handle: Handler<O, Kinds[K]>): Route =>
    ({ operation, kind, handle }) as unknown as Route

export const read = bind('read')
export const write = bind('write')
export const own = bind('own')
