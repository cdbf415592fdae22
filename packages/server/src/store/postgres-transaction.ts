// One transaction on one connection. Statements are sent without waiting for the results before them: `begin` goes out
// with the first statement, and nothing waits for the result of a `later` statement before the `commit`.
import type pg from 'pg'
import { runEffects, StoreUnavailable, type Db, type Insert, type TxOptions, type Value } from './db.ts'
import {
  BEGIN_UNSYNCED,
  capabilities,
  dialect,
  isAbortedTransaction,
  isOutage,
  isRefusal,
  lockSql,
  moveAtOnce,
  send,
  sendCommand,
  sendMany,
  type Query,
} from './postgres-wire.ts'
import { messageSql } from './postgres-listen.ts'
import { moveByTenant, sendByTenant } from './postgres-sharded.ts'

/** What a transaction knows of its store; `node` is its name in messages. */
interface InStore {
  isSharded: boolean
  node: string
}

/** Returns the `Db` of one transaction. `later` is given the results that nobody waits for. */
function onQuery(
  query: Query,
  { isSharded, node }: InStore,
  later: (result: Promise<unknown>) => void,
  { afterCommit, afterRollback }: Pick<Db, 'afterCommit' | 'afterRollback'>,
): Db {
  const rows = async <R>(sql: string, values: readonly Value[] = []): Promise<R[]> =>
    (await query(sql, values)).rows as R[]
  const insertRows = isSharded ? sendByTenant : sendMany
  const moveRows = isSharded ? moveByTenant : moveAtOnce
  return {
    dialect,
    ...capabilities,
    isSharded,
    afterCommit,
    afterRollback,
    rows,
    lookUp: async <R>(sql: string, values?: readonly Value[]) => (await rows<R>(sql, values))[0],
    run: async (sql, values = []) => (await query(sql, values)).rowCount ?? 0,
    insertMany: async <R>(insert: Insert, given: readonly (readonly Value[])[]) =>
      given.length === 0 ? [] : ((await insertRows(query, insert, given)) as R[]),
    move: (move, given, where, values) => moveRows(query, move, where, [...values, ...given]),
    runLater: (sql, values = []) => later(query(sql, values)),
    runLast: (sql, values = []) => later(query(sql, values)),
    insertLater: (insert, given) => (given.length === 0 ? undefined : later(insertRows(query, insert, given))),
    notify: (channel, payload) => later(query(...messageSql(node, channel, payload))),
    lock(names, mode) {
      const held = query(lockSql(mode), [names]).then(() => {})
      later(held)
      return held
    },
  }
}

/**
 * Runs the work and commits it. Throws `StoreUnavailable` with `unsure` if the connection was lost after the commit was
 * sent: the server may have committed, and nobody heard.
 *
 * Once the server has refused a statement, it refuses those after it and does not commit. So the reason of the first
 * refusal is the reason why the transaction failed, whether or not the work waited for that statement. An error of the
 * work's own is not replaced by it.
 */
export async function transact<T>(
  client: pg.ClientBase,
  work: (tx: Db) => Promise<T>,
  inStore: InStore,
  { mayBeLost = false }: TxOptions,
): Promise<T> {
  const effects: (() => void)[] = []
  const undone: (() => void)[] = []
  let firstRefusal: unknown
  let committing = false
  /** Notes a failure, which then does not count as an unhandled rejection. */
  function noted<R>(result: Promise<R>): Promise<R> {
    result.catch((error: unknown) => (firstRefusal ??= error))
    return result
  }
  // Results are noted as they leave the driver, in the order of the statements.
  const query: Query = (sql, values) => noted(send(client, sql, values))
  void noted(sendCommand(client, mayBeLost ? BEGIN_UNSYNCED : 'begin'))
  try {
    const ends = {
      afterCommit: (effect: () => void) => void effects.push(effect),
      afterRollback: (effect: () => void) => void undone.push(effect),
    }
    const result = await work(onQuery(query, inStore, noted, ends))
    // The server does not know of a statement that could not be sent, and would commit the others.
    if (firstRefusal !== undefined) throw firstRefusal
    committing = true
    const { command } = await noted(sendCommand(client, 'commit'))
    if (firstRefusal !== undefined || command !== 'COMMIT') throw new Error('the transaction was rolled back')
    runEffects(effects)
    return result
  } catch (error) {
    runEffects(undone)
    const reason = committing || isAbortedTransaction(error) ? (firstRefusal ?? error) : error
    if (isOutage(reason)) {
      if (!committing || isRefusal(reason)) throw reason
      throw new StoreUnavailable((reason as Error).message, { trouble: 'unsure', cause: reason })
    }
    // If the commit was sent as well, the server has rolled back already, and this does nothing.
    await sendCommand(client, 'rollback')
    throw reason
  }
}
