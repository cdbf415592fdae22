// What a recipient does with a delivery it was handed: acknowledge it, give it back, or ask for more time. Ids that are
// not in the caller's mailbox, or are settled already, are neither counted nor changed.
import type { Activity } from '../activity/activity.ts'
import type { Db } from '../store/db.ts'
import { meter } from '../tenants/usage.ts'
import type { EndingLease, Lease } from './claimed.ts'
import type { LeaseChanges } from './lease-changes.ts'
import type { DeliveryPolicy } from './policy.ts'
import { afterLapse, afterNack } from './rules.ts'
import type { Wakeups } from './wake.ts'
import { acknowledgeRows, deliveryIds, extendRows, leasedRows, type Mailbox } from './sql.ts'
import { writeNext } from './write-next.ts'

/** The deliveries that one caller acknowledges. */
export interface Acknowledgement {
  mailbox: Mailbox
  ids: readonly string[]
}

export interface SettleTools {
  leaseChanges: LeaseChanges
  activity: Activity
}

export async function acknowledge(
  tx: Db,
  tools: SettleTools,
  mailbox: Mailbox,
  ids: readonly string[],
  now: number,
): Promise<number> {
  const [acknowledged] = await acknowledgeAll(tx, tools, [{ mailbox, ids }], now)
  return acknowledged!
}

/** Acknowledges in several mailboxes. Returns how many deliveries of each. */
export async function acknowledgeAll(
  tx: Db,
  { leaseChanges, activity }: SettleTools,
  group: readonly Acknowledgement[],
  now: number,
): Promise<number[]> {
  // In parallel: on PostgreSQL all statements go out before the first result is awaited.
  const counts = await Promise.all(group.map(({ mailbox, ids }) => acknowledgeRows(tx, mailbox, deliveryIds(ids), now)))
  const ofTenants = new Map<string, number>()
  for (const [i, { mailbox }] of group.entries())
    ofTenants.set(mailbox.tenantId, (ofTenants.get(mailbox.tenantId) ?? 0) + counts[i]!)
  meter(
    tx,
    now,
    Array.from(ofTenants, ([tenantId, count]) => [tenantId, 'acknowledgements', count] as const),
  )
  for (const [tenantId, count] of ofTenants) activity.countLater(tx, tenantId, 'acknowledgements', count)
  tx.afterCommit(() => {
    for (const { mailbox, ids } of group) leaseChanges.settled(mailbox.recipientId, ids)
  })
  return counts
}

interface Nack {
  delivery_ids: readonly string[]
  retry_after_seconds?: number
  reason?: string
  dead_letter?: boolean
}

export async function giveBack(
  tx: Db,
  { wakeups, leaseChanges, activity }: SettleTools & { wakeups: Wakeups },
  mailbox: Mailbox,
  nack: Nack,
  now: number,
  policy: DeliveryPolicy,
): Promise<number> {
  const rows = await leasedRows(tx, mailbox, deliveryIds(nack.delivery_ids), now)
  const wanted = {
    retryAfterMs: (nack.retry_after_seconds ?? 0) * 1000,
    reason: nack.reason || null,
    deadLetter: nack.dead_letter ?? false,
  }
  const decided = rows.map((row) => ({ id: row.id, next: afterNack(row, wanted, now, policy) }))
  await writeNext(tx, activity, mailbox, decided, wanted.reason, now)
  activity.countLater(tx, mailbox.tenantId, 'failures', rows.length)
  tx.afterCommit(() => {
    leaseChanges.givenBack(
      mailbox.recipientId,
      rows.map(({ id, leases: lease }) => ({ id, lease })),
    )
    wakeups.wake([mailbox.recipientId])
  })
  return rows.length
}

export function extend(
  tx: Db,
  leaseChanges: LeaseChanges,
  mailbox: Mailbox,
  ids: readonly string[],
  seconds: number,
  now: number,
): Promise<number> {
  tx.afterCommit(() => leaseChanges.extended(mailbox.recipientId))
  return extendRows(tx, mailbox, deliveryIds(ids), now + seconds * 1000, now)
}

/**
 * Ends leases whose holder is gone, at once instead of when they lapse; the attempt counts, but not as a failure:
 * nobody refused the delivery. A lease that is no longer held is left alone: the delivery may be leased to another
 * holder by now. So is one that ends at another time than `until`: its receiver has extended it, and so needs no
 * connection to hold it. After the machine's clock was set, a lease no longer ends at the time its holder knows; it is
 * then left to lapse. `error` says why, if it is known.
 */
export async function release(
  tx: Db,
  activity: Activity,
  mailbox: Mailbox,
  leases: readonly (Lease & Partial<EndingLease>)[],
  now: number,
  policy: DeliveryPolicy,
  error: string | null = null,
): Promise<number> {
  const held = new Map(leases.map((lease) => [lease.id, lease]))
  const rows = (await leasedRows(tx, mailbox, [...held.keys()], now)).filter(({ id, leases: number, due_at }) => {
    const { lease, until = due_at } = held.get(id)!
    return number === lease && due_at === until
  })
  const decided = rows.map((row) => ({
    id: row.id,
    next: afterLapse({ ...row, last_error: error ?? row.last_error }, now, policy),
  }))
  await writeNext(tx, activity, mailbox, decided, error, now)
  return rows.length
}
