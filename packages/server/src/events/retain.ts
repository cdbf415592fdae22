// Retention: acknowledged deliveries go after the retention time, and an event's content with the last of them. The id of an
// event stays known for another retention time, so that a late duplicate is still one. Dead letters and pending deliveries,
// and the events they point at, are never purged. Small steps: a few hundred rows a transaction, none while there is no work.
import type { Store } from '../store/db.ts'
import { purgeChanges } from '../routing/sql.ts'
import { emptyEvent, forgetEvents, pageOldEvents } from './sql.ts'

const STEP = 200
const DAY_MS = 86_400_000
/** A routing table further behind than this is loaded whole. */
const CHANGES_KEPT_MS = 3_600_000

export interface Retain {
  /** One round over everything that is due; answers how many rows went. */
  (): Promise<number>
}

export function makeRetain(store: Store, now: () => number, retentionDays: number): Retain {
  async function inSteps(step: () => Promise<number>): Promise<number> {
    let total = 0
    for (;;) {
      const n = await step()
      total += n
      if (n < STEP) return total
      await new Promise(setImmediate)
    }
  }

  async function emptyEvents(before: number): Promise<number> {
    let total = 0
    for (let after = { receivedAt: -1, tenantId: '', id: '' }; ; ) {
      const page = await pageOldEvents(store, after, before, STEP)
      const free = page.filter((event) => event.needed === 0)
      if (free.length > 0) {
        total += await store.tx(async (tx) => {
          let emptied = 0
          for (const event of free) emptied += await emptyEvent(tx, event.tenant_id, event.id, now())
          return emptied
        })
      }
      const last = page.at(-1)
      if (!last || page.length < STEP) return total
      after = { receivedAt: last.received_at, tenantId: last.tenant_id, id: last.id }
      await new Promise(setImmediate)
    }
  }

  return async () => {
    const before = now() - retentionDays * DAY_MS
    let total = await inSteps(() =>
      store.tx((tx) =>
        tx.run(
          `delete from deliveries where (tenant_id, recipient_id, id) in
             (select tenant_id, recipient_id, id from deliveries where state = 'acknowledged' and acknowledged_at < ? order by acknowledged_at limit ?)`,
          [before, STEP],
        ),
      ),
    )
    total += await emptyEvents(before)
    total += await inSteps(() => store.tx((tx) => forgetEvents(tx, before, STEP)))
    total += await inSteps(() => store.tx((tx) => purgeChanges(tx, now() - CHANGES_KEPT_MS, STEP)))
    return total
  }
}
