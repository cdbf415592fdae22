// A binding gives an operation of the contract its handler. perform.ts does the rest: limits, scope, idempotency,
// shape, transaction. A handler sees only calls that passed all of it.
//
//   read   is given the store
//   browse is given what may be two seconds old: a replica of the store, where there is one
//   write  is given a transaction; the record of its response commits with it
//   own    does its own transaction (micro-batches, computing in between) and calls `record` inside it where one is
//          given; of several transactions in the last, and `record.begun` in the others that have done something
import type { BodyOf, Operation } from '@sensorium/contract'
import type { Db } from '../store/db.ts'
import type { Call } from './call.ts'
import type { RecordResponse } from './idempotency.ts'
import type { OperationResponse } from './response.ts'

export type Handler<O, Given> = (call: Call<O>, given: Given) => Promise<OperationResponse>

export interface RecordOwn extends RecordResponse {
  /** Something was done that stays, whatever becomes of the rest. */
  begun?(tx: Db): Promise<void>
}

interface Kinds {
  read: Db
  browse: Db
  write: Db
  own: RecordOwn | null
}

export type Binding = {
  [K in keyof Kinds]: {
    operation: Operation
    kind: K
    handle: Handler<never, Kinds[K]>
    /** Makes of a JSON value what the handler takes, where that is something else: see `checksBody` of an operation. */
    fromValue?: (value: unknown) => unknown
  }
}[keyof Kinds]

const bind =
  <K extends keyof Kinds>(kind: K) =>
  <O extends Operation>(
    operation: O,
    handle: Handler<O, Kinds[K]>,
    fromValue?: (value: unknown) => BodyOf<O>,
  ): Binding =>
    ({ operation, kind, handle, ...(fromValue ? { fromValue } : {}) }) as unknown as Binding

export const read = bind('read')
export const browse = bind('browse')
export const write = bind('write')
export const own = bind('own')
