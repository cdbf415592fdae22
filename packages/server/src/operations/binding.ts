// A binding gives an operation of the contract its handler. perform.ts does the rest: limits, scope, idempotency,
// shape, transaction. A handler receives only calls that have passed all of these.
//
//   read     is given the store
//   browse   is given a replica of the store if there is one; its data may be two seconds old
//   write    is given a transaction; the record of its response commits with it
//   prepared is a write that first does what must not hold a transaction open, and returns what to do in it, and
//            after it
//   own      runs its own transaction (micro-batches, computing in between) and calls `record` inside it if one is
//            given. With several transactions it calls `record` in the last, `record.reserve` in the first or in each
//            earlier one, and `record.begun` in each earlier one that had an effect
import type { BodyOf, Operation } from '@sensorium/contract'
import type { Db } from '../store/db.ts'
import type { Call } from './call.ts'
import type { RecordResponse } from './write-record.ts'
import type { OperationResponse } from './response.ts'

export interface Prepared {
  run(tx: Db): Promise<OperationResponse>
  /** Something has been changed already, so that it is finished although the client has gone. */
  isBegun?: boolean
  /** Called when the transaction is over, however it ended. The response waits for it. */
  ended?(): void | Promise<void>
}

interface Handlers<O> {
  read(call: Call<O>, db: Db): Promise<OperationResponse>
  browse(call: Call<O>, db: Db): Promise<OperationResponse>
  write(call: Call<O>, tx: Db): Promise<OperationResponse>
  prepared(call: Call<O>): Promise<Prepared>
  own(call: Call<O>, record: RecordResponse | null): Promise<OperationResponse>
}
type Kind = keyof Handlers<never>

export type Binding = {
  [K in Kind]: {
    operation: Operation
    kind: K
    handle: Handlers<never>[K]
    /** Converts a JSON value to what the handler takes, if that differs: see `checksBody` of an operation. */
    fromValue?: (value: unknown) => unknown
  }
}[Kind]

const bind =
  <K extends Kind>(kind: K) =>
  <O extends Operation>(operation: O, handle: Handlers<O>[K], fromValue?: (value: unknown) => BodyOf<O>): Binding =>
    ({ operation, kind, handle, ...(fromValue ? { fromValue } : {}) }) as unknown as Binding

export const read = bind('read')
export const browse = bind('browse')
export const write = bind('write')
export const prepared = bind('prepared')
export const own = bind('own')
