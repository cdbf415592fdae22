// Writes what the passing of time has decided. A delivery whose last lease has run out becomes a dead letter; one whose
// wait is over becomes ready, and its mailbox is woken. An ordinary lease that runs out needs no write: every verb
// compares the time, and a poll delivers it again.
import type { Activity } from '../activity/activity.ts'
import type { Db, Store } from '../store/db.ts'
import type { DeliveryPolicy, PolicyOf } from './policy.ts'
import { afterLapse, type Next } from './rules.ts'
import { hasLapsed, lapsedOfTenant, lapsedRow, tenantsWithLapsed, type TimedRow } from './sql.ts'
import { writeNext } from './write-next.ts'

const AT_ONCE = 500

const nextOf = (row: TimedRow, now: number, policy: DeliveryPolicy): Next =>
  row.state === 'leased' ? afterLapse(row, now, policy) : { state: 'ready' }

async function apply(tx: Db, activity: Activity, rows: TimedRow[], now: number, policy: DeliveryPolicy): Promise<void> {
  for (const [, ofMailbox] of Map.groupBy(rows, (row) => row.recipient_id)) {
    const mailbox = { tenantId: ofMailbox[0]!.tenant_id, recipientId: ofMailbox[0]!.recipient_id }
    const decided = ofMailbox.map((row) => ({ id: row.id, next: nextOf(row, now, policy) }))
    const dead = await writeNext(tx, activity, mailbox, decided, null, now)
    // The end of a wait is no failure, and any other lease that lapsed is counted by the claim that follows it.
    activity.countLater(tx, mailbox.tenantId, 'failures', dead)
  }
}

/** Handles up to `AT_ONCE` deliveries of a tenant in one transaction. Returns them. */
const step = (
  store: Store,
  activity: Activity,
  tenantId: string,
  now: number,
  policy: DeliveryPolicy,
  passOver: boolean,
) =>
  store.tx(async (tx) => {
    const rows = await lapsedOfTenant(tx, tenantId, now, AT_ONCE, passOver)
    await apply(tx, activity, rows, now, policy)
    return rows
  })

/** Handles one delivery. */
export const lapseOne = async (
  tx: Db,
  activity: Activity,
  tenantId: string,
  id: string,
  now: number,
  policy: DeliveryPolicy,
): Promise<void> => apply(tx, activity, await lapsedRow(tx, tenantId, id, now), now, policy)

/**
 * Writes every lapse in a tenant, and waits for rows that other transactions hold. Called before responses that report
 * dead letters: an acknowledgement under way either has won when this returns, or finds the delivery dead.
 */
export async function writeLapsed(
  store: Store,
  activity: Activity,
  tenantId: string,
  now: number,
  policy: DeliveryPolicy,
): Promise<void> {
  if (!(await hasLapsed(store, tenantId, now))) return
  while ((await step(store, activity, tenantId, now, policy, false)).length === AT_ONCE);
}

/** Writes every lapse but of rows that others hold. Returns the recipients for whom something became due. */
export async function sweepLapsed(
  store: Store,
  activity: Activity,
  now: number,
  policyOf: PolicyOf,
): Promise<Set<string>> {
  const woken = new Set<string>()
  for (;;) {
    let found = 0
    for (const tenantId of await tenantsWithLapsed(store, now, AT_ONCE)) {
      const rows = await step(store, activity, tenantId, now, policyOf(tenantId), true)
      for (const row of rows) woken.add(row.recipient_id)
      found += rows.length
    }
    if (found === 0) return woken
  }
}
