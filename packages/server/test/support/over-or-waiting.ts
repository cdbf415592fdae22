// For tests of two concurrent transactions: one is held open until the other has come as far as it can.
import type { Store } from '../../src/store/db.ts'
import { turnsUntil } from './turns-until.ts'

/**
 * Resolves when the work is over, or when so many transactions wait for a lock. With one writer it resolves at once:
 * there the work waits for its turn.
 */
export async function overOrWaiting(store: Store, work: Promise<unknown>, count = 1): Promise<void> {
  let isOver = false
  const over = () => (isOver = true)
  work.then(over, over)
  const waiting =
    "select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  await turnsUntil(async () => !store.isShared || isOver || (await store.rows(waiting)).length >= count)
}
