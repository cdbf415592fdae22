// Writes what the rules have decided about deliveries of a mailbox (rules.ts). What counts as a failure is the caller's
// to say.
import type { Activity } from '../activity/activity.ts'
import type { Db } from '../store/db.ts'
import type { Next } from './rules.ts'
import { setDead, setReady, setWaiting, type Mailbox } from './sql.ts'

interface Decided {
  id: string
  next: Next
}

/** What deliveries have in common that are written by one statement. */
function alikeBy(next: Next): string | number {
  if (next.state === 'waiting') return next.dueAt
  return next.state === 'ready' ? next.state : `${next.state} ${next.reason}`
}

/**
 * The caller holds the rows. `error` becomes the last error of those that are not dead; null keeps the one they have.
 * Returns how many became dead letters.
 */
export async function writeNext(
  tx: Db,
  activity: Activity,
  mailbox: Mailbox,
  decided: readonly Decided[],
  error: string | null,
  now: number,
): Promise<number> {
  let dead = 0
  for (const alike of Map.groupBy(decided, ({ next }) => alikeBy(next)).values()) {
    const { next } = alike[0]!
    const ids = alike.map(({ id }) => id)
    if (next.state === 'ready') await setReady(tx, mailbox, ids, error)
    else if (next.state === 'waiting') await setWaiting(tx, mailbox, ids, next.dueAt, error)
    else {
      await setDead(tx, mailbox, ids, next.reason, now)
      dead += ids.length
    }
  }
  activity.countLater(tx, mailbox.tenantId, 'dead_letters', dead)
  return dead
}
