// Measures the backlog of a tenant's mailboxes without ever reading all of a large backlog at once.
//
// A pass goes through the tenant's deliveries by id, some thousand rows a second. Up to 10,000 deliveries the result is
// exact every second. Beyond that it is the result of the last whole pass, adjusted by what was delivered and settled
// since it ended. (Rejected: a counter for each tenant in the store. Every publish and every acknowledgement would
// write it.)
import { nextTurn } from '../kernel/step-turns.ts'
import type { Store } from '../store/db.ts'
import { pageBacklog } from './sql.ts'

const PAGE = 2_000
const PAGES_A_SECOND = 5

export interface Backlog {
  waiting: number
  oldestAt: number | null
  /** What of it waits for the org-admin. Of a large backlog, as the last whole pass found it. */
  ofAdmin: { waiting: number; oldestAt: number | null }
}

type MeasureBacklog = (now: number, change: number) => Promise<Backlog>

function add(to: { waiting: number; oldestAt: number | null }, waiting: number, oldest: number | null): void {
  to.waiting += waiting
  if (oldest !== null) to.oldestAt = Math.min(to.oldestAt ?? oldest, oldest)
}

/** `change` is how much the backlog has grown since the last call, as far as it was counted. */
export function makeMeasureBacklog(store: Store, tenantId: string): MeasureBacklog {
  const start = (): Backlog & { after: string } => ({
    after: '',
    waiting: 0,
    oldestAt: null,
    ofAdmin: { waiting: 0, oldestAt: null },
  })
  let pass = start()
  let known: Backlog & { change: number } = { ...start(), change: 0 }
  let isKnown = false

  return async (now, change) => {
    known.change += change
    for (let pages = 0; pages < PAGES_A_SECOND; pages++) {
      const page = await pageBacklog(store, tenantId, pass.after, PAGE, now)
      add(pass, page.waiting, page.oldest)
      add(pass.ofAdmin, page.admin_waiting, page.admin_oldest)
      if (page.rows < PAGE) {
        // Changes to rows that the pass had already read are missing until the next pass: this is off by a little.
        known = { ...pass, change: 0 }
        isKnown = true
        pass = start()
        break
      }
      pass.after = page.last!
      await nextTurn()
    }
    const { waiting, oldestAt, ofAdmin } = isKnown ? known : pass
    return { waiting: Math.max(0, waiting + (isKnown ? known.change : 0)), oldestAt, ofAdmin }
  }
}
