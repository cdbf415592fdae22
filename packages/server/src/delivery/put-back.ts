// Gives back deliveries that were leased a moment ago and cannot go out: they are ready again, as if never leased.
import type { Store } from '../store/db.ts'
import { putBackRows, type ClaimedRow, type Mailbox } from './sql.ts'
import type { Wakeups } from './wake.ts'

/** Never rejects: if it fails, the leases lapse. */
export type PutBack = (mailbox: Mailbox, rows: readonly Pick<ClaimedRow, 'id'>[]) => Promise<void>

export function makePutBack(store: Store, wakeups: Wakeups): PutBack {
  return async (mailbox, rows) => {
    const ids = rows.map(({ id }) => id)
    await store
      .tx(async (tx) => {
        await putBackRows(tx, mailbox, ids)
        tx.afterCommit(() => wakeups.wake([mailbox.recipientId]))
      })
      .catch(() => {})
  }
}
