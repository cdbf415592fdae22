// Retention: acknowledged deliveries are deleted after the retention time, and an event's content with the last of
// them. The id of an event stays known for another retention time, so that a late duplicate is still detected. Dead
// letters and pending deliveries, and the events they point at, are never purged. It works in small steps, a few
// hundred rows in a transaction.
import { dayNumber, forgetTypes } from '../activity/event-types-sql.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Db, Store } from '../store/db.ts'
import { purge } from '../store/purge.ts'
import { tenantIds } from '../tenants/sql.ts'
import { meterStoredBytes } from '../tenants/usage.ts'
import { AGING_CHANGES } from '../routing/sql.ts'
import { deleteAcknowledged, emptyEvents, forgetEvents, pageOldEvents, type EventCursor } from './sql.ts'

const STEP = 200
/** A routing table that is further behind is loaded whole. */
const CHANGES_KEPT_MS = 3_600_000

/**
 * Nodes that work on the same tenant do its steps one after the other. Otherwise they would wait for each other's rows
 * in any order, and count the bytes of one event twice.
 */
const takeTurns = (tx: Db, tenantId: string): void => void tx.lock([`retain ${tenantId}`], 'exclusive')

/** Does one round over everything that is due. Returns how many rows it removed or emptied. */
type Retain = () => Promise<number>

/** `retainedSince` returns the time since which the events of a tenant are kept. */
export function makeRetain(store: Store, now: () => number, retainedSince: (tenantId: string) => number): Retain {
  async function inSteps(step: () => Promise<number>): Promise<number> {
    let total = 0
    for (;;) {
      const n = await step()
      total += n
      if (n < STEP) return total
      await nextTurn()
    }
  }

  async function ofTenant(tenantId: string, before: number): Promise<number> {
    let total = 0
    for (let after: EventCursor = { received_at: -1, place: 0, id: '' }; ; ) {
      const page = await pageOldEvents(store, tenantId, after, before, STEP)
      const last = page.at(-1)
      if (!last) return total
      const ids = page.map((event) => event.id)
      total += await store.tx(async (tx) => {
        takeTurns(tx, tenantId)
        const deleted = await deleteAcknowledged(tx, tenantId, ids, before)
        const { emptied, bytes } = await emptyEvents(tx, tenantId, ids, now())
        meterStoredBytes(tx, tenantId, -bytes)
        return deleted + emptied
      })
      after = last
      await nextTurn()
    }
  }

  return async () => {
    let total = 0
    for (const tenantId of await tenantIds(store)) {
      const before = retainedSince(tenantId)
      total += await ofTenant(tenantId, before)
      await store.tx((tx) => {
        takeTurns(tx, tenantId)
        return forgetTypes(tx, tenantId, dayNumber(before))
      })
      total += await inSteps(() =>
        store.tx((tx) => {
          takeTurns(tx, tenantId)
          return forgetEvents(tx, tenantId, before, STEP)
        }),
      )
    }
    return total + (await purge(store, AGING_CHANGES, now() - CHANGES_KEPT_MS))
  }
}
