// A page of the types of events, the latest first, and how many there are. SQLite reads on the main thread, and took
// 690 ms for a thousand types on each day of a year: there the days are added up in steps.
import { sortSteps } from '../kernel/sort-steps.ts'
import { inSteps, type Pause } from '../kernel/step-turns.ts'
import type { Db } from '../store/db.ts'
import { addUpTypes, readTypes, type TypePart, type TypeRow } from './event-types-sql.ts'

/** Days of types in a step: two or three milliseconds. */
export const STEP = 2_000

const latestFirst = (a: TypeRow, b: TypeRow): number => b.last_at - a.last_at

/** Yields the types that a tenant has had since a day, in their order, a step at a time with a pause in between. */
async function* typeSteps(db: Db, tenantId: string, since: number, pause: Pause): AsyncGenerator<TypeRow[]> {
  let open = null as TypeRow | null
  for (let after = { type: '', day: -1 }; ; await pause()) {
    const parts: TypePart[] = await addUpTypes(db, tenantId, since, after, STEP)
    const whole: TypeRow[] = []
    let days = 0
    for (const part of parts) {
      days += part.days
      if (part.last_at === null) continue
      const { type, count, last_at } = part
      // The days of a type may go on in the next step.
      if (open?.type === type) open = { type, count: open.count + count, last_at: Math.max(open.last_at, last_at) }
      else {
        if (open) whole.push(open)
        open = { type, count, last_at }
      }
    }
    const isLast = days < STEP
    if (isLast && open) whole.push(open)
    yield whole
    if (isLast) return
    after = parts.at(-1)!
  }
}

/** Returns a page of the types that a tenant has had since a day, the latest first, and how many there are. */
export async function pageTypes(
  db: Db,
  tenantId: string,
  since: number,
  offset: number,
  limit: number,
  pause: Pause,
): Promise<{ rows: TypeRow[]; total: number }> {
  // A database server adds up beside this thread.
  if (db.isShared) return readTypes(db, tenantId, since, offset, limit)
  const wanted = offset + limit
  let total = 0
  let latest: TypeRow[] = []
  // The sort is stable: of equally late types the first stays the first.
  const cut = async (): Promise<TypeRow[]> => (await inSteps(sortSteps(latest, latestFirst), pause)).slice(0, wanted)
  for await (const types of typeSteps(db, tenantId, since, pause)) {
    total += types.length
    for (const type of types) latest.push(type)
    if (latest.length > 2 * wanted + STEP) latest = await cut()
  }
  return { rows: (await cut()).slice(offset), total }
}
