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
}

export type MeasureBacklog = (now: number, change: number) => Promise<Backlog>

/** `change` is how much the backlog has grown since the last call, as far as it was counted. */
export function makeMeasureBacklog(store: Store, tenantId: string): MeasureBacklog {
  const start = () => ({ after: '', waiting: 0, oldestAt: null as number | null })
  let pass = start()
  let known: Backlog & { change: number } = { waiting: 0, oldestAt: null, change: 0 }
  let isKnown = false

  return async (now, change) => {
    known.change += change
    for (let pages = 0; pages < PAGES_A_SECOND; pages++) {
      const page = await pageBacklog(store, tenantId, pass.after, PAGE, now)
      pass.waiting += page.waiting
      if (page.oldest !== null) pass.oldestAt = Math.min(pass.oldestAt ?? page.oldest, page.oldest)
      if (page.rows < PAGE) {
        // Changes to rows that the pass had already read are missing until the next pass: this is off by a little.
        known = { waiting: pass.waiting, oldestAt: pass.oldestAt, change: 0 }
        isKnown = true
        pass = start()
        break
      }
      pass.after = page.last!
      await nextTurn()
    }
    const { waiting, oldestAt } = isKnown ? known : pass
    return { waiting: Math.max(0, waiting + (isKnown ? known.change : 0)), oldestAt }
  }
}
