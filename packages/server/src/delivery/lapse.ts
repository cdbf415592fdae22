// Writes what the passing of time has decided. A delivery whose last lease has run out becomes a dead letter; one whose
// wait is over becomes ready, and its mailbox is woken. An ordinary lease that runs out needs no write: every verb
// compares the time, and a poll delivers it again.
import type { Activity } from '../activity/activity.ts'
import type { Db, Store } from '../store/db.ts'
import type { DeliveryPolicy, PolicyOf } from './policy.ts'
import { afterLapse, type Next } from './rules.ts'
import { hasLapsed, lapsedOfTenant, lapsedRow, tenantsWithLapsed, type TimedRow } from './sql.ts'
import type { Wakeups } from './wake.ts'
import { writeNext } from './write-next.ts'

const AT_ONCE = 500

const nextOf = (row: TimedRow, now: number, policy: DeliveryPolicy): Next =>
  row.state === 'leased' ? afterLapse(row, now, policy) : { state: 'ready' }

interface LapseTools {
  store: Store
  activity: Activity
  wakeups: Wakeups
  policyOf: PolicyOf
}
type Applying = Omit<LapseTools, 'store'>

/** Wakes the mailboxes whoever writes this: the sweep would not find these deliveries any more. */
async function apply(tx: Db, { activity, wakeups, policyOf }: Applying, rows: TimedRow[], now: number): Promise<void> {
  const mailboxes = Map.groupBy(rows, (row) => row.recipient_id)
  for (const [recipientId, ofMailbox] of mailboxes) {
    const mailbox = { tenantId: ofMailbox[0]!.tenant_id, recipientId }
    const policy = policyOf(mailbox.tenantId)
    const decided = ofMailbox.map((row) => ({ id: row.id, next: nextOf(row, now, policy) }))
    const dead = await writeNext(tx, activity, mailbox, decided, null, now)
    // The end of a wait is no failure, and any other lease that lapsed is counted by the claim that follows it.
    activity.countLater(tx, mailbox.tenantId, 'failures', dead)
  }
  if (rows.length > 0) tx.afterCommit(() => wakeups.wake(mailboxes.keys()))
}

/** Handles up to `AT_ONCE` deliveries of a tenant in one transaction. Returns how many. */
const step = (tools: LapseTools, tenantId: string, now: number, passOver: boolean): Promise<number> =>
  tools.store.tx(async (tx) => {
    const rows = await lapsedOfTenant(tx, tenantId, now, AT_ONCE, passOver)
    await apply(tx, tools, rows, now)
    return rows.length
  })

/** Handles one delivery. */
export const lapseOne = async (tx: Db, tools: Applying, tenantId: string, id: string, now: number): Promise<void> =>
  apply(tx, tools, await lapsedRow(tx, tenantId, id, now), now)

/**
 * Writes every lapse in a tenant, and waits for rows that other transactions hold. Called before responses that report
 * dead letters: an acknowledgement under way either has won when this returns, or finds the delivery dead.
 */
export async function writeLapsed(tools: LapseTools, tenantId: string, now: number): Promise<void> {
  if (!(await hasLapsed(tools.store, tenantId, now))) return
  while ((await step(tools, tenantId, now, false)) === AT_ONCE);
}

/** Writes every lapse but of rows that others hold. */
export async function sweepLapsed(tools: LapseTools, now: number): Promise<void> {
  for (;;) {
    let found = 0
    for (const tenantId of await tenantsWithLapsed(tools.store, now, AT_ONCE))
      found += await step(tools, tenantId, now, true)
    if (found === 0) return
  }
}
