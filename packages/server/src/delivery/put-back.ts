// Puts back deliveries that were leased a moment ago and cannot go out: they are ready again, and the lease does not
// count as an attempt.
import type { Logger } from '../kernel/logger.ts'
import type { Db, Store } from '../store/db.ts'
import type { Lease } from './claimed.ts'
import type { ClaimedRow } from './claim-sql.ts'
import { putBackRows, type Mailbox } from './sql.ts'
import type { Wakeups } from './wake.ts'

/** Never rejects: if it fails, the leases lapse. */
export type PutBack = (mailbox: Mailbox, leases: readonly Lease[]) => Promise<void>

export const leasesOf = (rows: readonly ClaimedRow[]): Lease[] => rows.map(({ id, leases }) => ({ id, lease: leases }))

export async function putBackIn(tx: Db, mailbox: Mailbox, leases: readonly Lease[]): Promise<void> {
  for (const [lease, some] of Map.groupBy(leases, ({ lease }) => lease))
    await putBackRows(
      tx,
      mailbox,
      lease,
      some.map(({ id }) => id),
    )
}

export function makePutBack(store: Store, wakeups: Wakeups, log: Logger): PutBack {
  return async (mailbox, leases) => {
    try {
      await store.tx(async (tx) => {
        await putBackIn(tx, mailbox, leases)
        tx.afterCommit(() => wakeups.wake([mailbox.recipientId]))
      })
    } catch (error) {
      log.warn({ err: error, deliveries: leases.length }, 'deliveries were not put back; their leases will lapse')
    }
  }
}
