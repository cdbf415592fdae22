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
} from './postgres-wire.ts'
import { moveByTenant, sendByTenant } from './postgres-sharded.ts'

/** Returns the `Db` of one transaction. `later` receives the results that nobody waits for. */
function onClient(
  client: pg.ClientBase,
  isSharded: boolean,
  later: (result: Promise<unknown>) => void,
  { afterCommit, afterRollback }: Pick<Db, 'afterCommit' | 'afterRollback'>,
): Db {
  const rows = async <R>(sql: string, values: readonly Value[] = []): Promise<R[]> =>
    (await send(client, sql, values)).rows as R[]
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
    run: async (sql, values = []) => (await send(client, sql, values)).rowCount ?? 0,
    insertMany: async <R>(insert: Insert, given: readonly (readonly Value[])[]) =>
      given.length === 0 ? [] : ((await insertRows(client, insert, given)) as R[]),
    move: (move, given, where, values) => moveRows(client, move, where, [...values, ...given]),
    runLater: (sql, values = []) => later(send(client, sql, values)),
    runLast: (sql, values = []) => later(send(client, sql, values)),
    insertLater: (insert, given) => (given.length === 0 ? undefined : later(insertRows(client, insert, given))),
    lock(names, mode) {
      const held = send(client, lockSql(mode), [names]).then(() => {})
      later(held)
      return held
    },
  }
}

/**
 * Runs the work and commits it. Throws `StoreUnavailable` with `unsure` if the connection was lost after the commit was
 * sent: the server may have committed, and nobody heard.
 */
export async function transact<T>(
  client: pg.ClientBase,
  work: (tx: Db) => Promise<T>,
  isSharded: boolean,
  { mayBeLost = false }: TxOptions,
): Promise<T> {
  const sent: Promise<unknown>[] = []
  const effects: (() => void)[] = []
  const undone: (() => void)[] = []
  let committing = false
  // Awaited when the transaction ends; until then a failure must not count as an unhandled rejection.
  const later = (result: Promise<unknown>): void => {
    result.catch(() => {})
    sent.push(result)
  }
  later(sendCommand(client, mayBeLost ? BEGIN_UNSYNCED : 'begin'))
  try {
    const ends = {
      afterCommit: (effect: () => void) => void effects.push(effect),
      afterRollback: (effect: () => void) => void undone.push(effect),
    }
    const result = await work(onClient(client, isSharded, later, ends))
    committing = true
    const commit = sendCommand(client, 'commit')
    later(commit)
    for (const result of sent) await result
    // A statement failed, and the work ignored it.
    if ((await commit).command !== 'COMMIT') throw new Error('the transaction was rolled back')
    runEffects(effects)
    return result
  } catch (error) {
    runEffects(undone)
    if (isOutage(error)) {
      if (!committing || isRefusal(error)) throw error
      throw new StoreUnavailable((error as Error).message, { trouble: 'unsure', cause: error })
    }
    // If the commit was sent as well, the server has rolled back already, and this does nothing.
    await sendCommand(client, 'rollback')
    // The first failure is why the rest was refused.
    throw isAbortedTransaction(error)
      ? await Promise.all(sent).then(
          () => error,
          (first: unknown) => first,
        )
      : error
  }
}
