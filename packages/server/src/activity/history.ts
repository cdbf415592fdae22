// What happened in a tenant, minute by minute.
import { iso } from '../kernel/clock.ts'
import type { Db } from '../store/db.ts'
import { MINUTE_MS, minuteOf } from './activity.ts'
import { readMinutes, type Counts } from './sql.ts'

interface ActivityMinute extends Counts {
  at: string
}

/** Returns the last `minutes` minutes, the present one last, including those in which nothing happened. */
export async function readHistory(db: Db, tenantId: string, minutes: number, now: number): Promise<ActivityMinute[]> {
  const last = minuteOf(now)
  const first = last - minutes + 1
  const known = new Map((await readMinutes(db, tenantId, first)).map(({ minute, ...counts }) => [minute, counts]))
  return Array.from({ length: minutes }, (_, i) => ({
    at: iso((first + i) * MINUTE_MS),
    events: 0,
    deliveries: 0,
    acknowledgements: 0,
    failures: 0,
    dead_letters: 0,
    ...known.get(first + i),
  }))
}
