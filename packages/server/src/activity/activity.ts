// What happens in each tenant, counted in memory and written every few seconds: for charts, not for bills, which
// metering counts (tenants/usage.ts).
//
// 1. Counting is an addition. Nothing waits for it, and a tenant in which nothing happens costs nothing.
// 2. A count belongs to the minute in which it happened, however late it is written: the store may have been away.
// 3. A node that is killed loses the counts that it has not written: a few seconds.
// 4. While somebody watches a tenant live, every node writes once a second: the watcher's node calls for it.
import { randomBytes } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { oneAtATime } from '../kernel/one-at-a-time.ts'
import type { Db, Store } from '../store/db.ts'
import { purge } from '../store/purge.ts'
import { addActivity, AGING_MINUTES, type ActivityMetric, type Counts } from './sql.ts'

export interface Activity {
  count(tenantId: string, what: ActivityMetric, amount: number): void
  /** Like `count`, once the transaction is on disk. */
  countLater(tx: Db, tenantId: string, what: ActivityMetric, amount: number): void
  /** Writes what was counted since the last flush. */
  flush(): Promise<void>
  /** Makes every node write what it counted. Resolves when this node has written. */
  flushEverywhere(): Promise<void>
  /** Deletes counts that are older than a day, and returns how many rows. */
  prune(): Promise<number>
}

const KEPT_MINUTES = 24 * 60
export const MINUTE_MS = 60_000
const CHANNEL = 'sensorium_activity'

const nothing = (): Counts => ({ events: 0, deliveries: 0, acknowledgements: 0, failures: 0, dead_letters: 0 })

export const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS)

/** `counted` hears of each count, for the metrics of the node. */
export function makeActivity(
  store: Store,
  clock: Clock,
  counted: (what: ActivityMetric, amount: number) => void = () => {},
): Activity {
  const node = randomBytes(6).toString('hex')
  /** Counts by minute, then by tenant. */
  let unwritten = new Map<number, Map<string, Counts>>()

  function countAt(minute: number, tenantId: string, what: ActivityMetric, amount: number): void {
    if (amount === 0) return
    let ofMinute = unwritten.get(minute)
    if (!ofMinute) unwritten.set(minute, (ofMinute = new Map()))
    let counts = ofMinute.get(tenantId)
    if (!counts) ofMinute.set(tenantId, (counts = nothing()))
    counts[what] += amount
  }

  const count: Activity['count'] = (tenantId, what, amount) => {
    countAt(minuteOf(clock.now()), tenantId, what, amount)
    counted(what, amount)
  }

  async function write(): Promise<void> {
    if (unwritten.size === 0) return
    const written = unwritten
    unwritten = new Map()
    try {
      await store.tx(async (tx) => {
        for (const [minute, counts] of written) addActivity(tx, minute, node, counts)
      })
    } catch (error) {
      for (const [minute, ofMinute] of written)
        for (const [tenantId, counts] of ofMinute)
          for (const [what, amount] of Object.entries(counts)) countAt(minute, tenantId, what as ActivityMetric, amount)
      throw error
    }
  }

  // Flushes run one after the other: two that overlap would wait for each other's rows.
  const flush = oneAtATime(write)

  store.listen(CHANNEL, () => void flush().catch(() => {}))

  return {
    count,
    countLater(tx, tenantId, what, amount) {
      if (amount > 0) tx.afterCommit(() => count(tenantId, what, amount))
    },
    flush,
    async flushEverywhere() {
      store.notify(CHANNEL, '')
      await flush()
    },
    prune: () => purge(store, AGING_MINUTES, minuteOf(clock.now()) - KEPT_MINUTES),
  }
}
