// Sees to what the clock alone decides: a delivery whose last lease has run out is a dead letter, one that has waited
// is ready and its mailbox is woken. An ordinary lease that runs out needs nothing: every verb asks the time, and a
// poll hands the delivery out again.
import type { Db, Store } from '../store/db.ts'
import { afterLapse, type Next } from './rules.ts'
import { lapsedAnywhere, lapsedOfTenant, lapsedRow, setDead, setReady, type TimedRow } from './sql.ts'

const AT_ONCE = 500

const nextOf = (row: TimedRow, now: number, maxAttempts: number): Next =>
  row.state === 'leased' ? afterLapse(row, now, maxAttempts) : { state: 'ready' }

async function apply(tx: Db, rows: TimedRow[], now: number, maxAttempts: number): Promise<void> {
  for (const [, ofMailbox] of Map.groupBy(rows, (row) => `${row.tenant_id} ${row.recipient_id}`)) {
    const mailbox = { tenantId: ofMailbox[0]!.tenant_id, recipientId: ofMailbox[0]!.recipient_id }
    const ready: string[] = []
    for (const row of ofMailbox) {
      const next = nextOf(row, now, maxAttempts)
      if (next.state === 'dead_lettered') await setDead(tx, mailbox, row.id, next.reason, now)
      else ready.push(row.id)
    }
    if (ready.length > 0) await setReady(tx, mailbox, ready, null)
  }
}

/** A few hundred deliveries a transaction, until there are no more; answers them. */
async function inSteps(
  store: Store,
  find: (tx: Db) => Promise<TimedRow[]>,
  now: number,
  maxAttempts: number,
): Promise<TimedRow[]> {
  const all: TimedRow[] = []
  for (;;) {
    const rows = await store.tx(async (tx) => {
      const found = await find(tx)
      await apply(tx, found, now, maxAttempts)
      return found
    })
    all.push(...rows)
    if (rows.length < AT_ONCE) return all
  }
}

/** One delivery. */
export const lapseOne = async (tx: Db, tenantId: string, id: string, now: number, maxAttempts: number): Promise<void> =>
  apply(tx, await lapsedRow(tx, tenantId, id, now), now, maxAttempts)

/** All of a tenant, also what somebody else is at: it waits for them. */
export const lapse = async (store: Store, tenantId: string, now: number, maxAttempts: number): Promise<void> =>
  void (await inSteps(store, (tx) => lapsedOfTenant(tx, tenantId, now, AT_ONCE), now, maxAttempts))

/** Everything, but for what somebody else is at; answers the recipients for whom something became due. */
export const sweepLapsed = async (store: Store, now: number, maxAttempts: number): Promise<Set<string>> =>
  new Set(
    (await inSteps(store, (tx) => lapsedAnywhere(tx, now, AT_ONCE), now, maxAttempts)).map((row) => row.recipient_id),
  )
