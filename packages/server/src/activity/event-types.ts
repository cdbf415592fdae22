// Which types of events a tenant has, how often, and when last: counted in memory and written with the rest of the
// activity.
//
// 1. Counting is an addition. (Rejected: an index of events by type. Every publish would write it.)
// 2. A tenant that makes up a type for every event is counted for its first thousand types of a day on this node.
import type { Clock } from '../kernel/clock.ts'
import { oneAtATime } from '../kernel/one-at-a-time.ts'
import type { Db, Store } from '../store/db.ts'
import { addTypes, dayNumber, type TypeCount } from './event-types-sql.ts'

export interface EventTypes {
  count(tenantId: string, type: string): void
  /** Writes what was counted since the last flush. */
  flush(): Promise<void>
}

const MAX_TYPES_A_DAY = 1_000
/** The most types remembered for that limit, over all tenants. */
const MAX_REMEMBERED = 100_000

export function makeEventTypes(store: Store, clock: Clock): EventTypes {
  let counted = new Map<string, Map<string, TypeCount>>()
  let today = new Map<string, Set<string>>()
  let remembered = 0
  let day = -1

  function mayCount(tenantId: string, type: string, now: number): boolean {
    if (dayNumber(now) !== day || remembered > MAX_REMEMBERED) {
      day = dayNumber(now)
      today = new Map()
      remembered = 0
    }
    let types = today.get(tenantId)
    if (!types) today.set(tenantId, (types = new Set()))
    if (types.has(type)) return true
    if (types.size >= MAX_TYPES_A_DAY) return false
    types.add(type)
    remembered++
    return true
  }

  function count(tenantId: string, type: string): void {
    const known = counted.get(tenantId)?.get(type)
    const now = clock.now()
    if (known) {
      known.count++
      known.lastAt = now
    } else if (mayCount(tenantId, type, now)) add(tenantId, type, { count: 1, lastAt: now })
  }

  function add(tenantId: string, type: string, { count: more, lastAt }: TypeCount): void {
    let types = counted.get(tenantId)
    if (!types) counted.set(tenantId, (types = new Map()))
    const known = types.get(type)
    types.set(type, { count: (known?.count ?? 0) + more, lastAt: Math.max(known?.lastAt ?? 0, lastAt) })
  }

  async function write(): Promise<void> {
    if (counted.size === 0) return
    const written = counted
    counted = new Map()
    try {
      await store.tx(async (tx: Db) => addTypes(tx, written))
    } catch (error) {
      for (const [tenantId, types] of written) for (const [type, counts] of types) add(tenantId, type, counts)
      throw error
    }
  }

  // Flushes run one after the other: a caller that lists types sees what was being written when it asked.
  const flush = oneAtATime(write)

  return { count, flush }
}
