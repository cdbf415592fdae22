// Counts dead letters in steps: SQLite counts on the main thread, and takes 50 ms for 60,000 at once.
import type { Pause } from '../kernel/step-turns.ts'
import { one, type Db } from '../store/db.ts'
import { deadOf, NEWEST, type DeadLetterPlace, type DeadLetterScope } from './find-dead-letters.ts'

/** Dead letters of a step. A database server counts beside this thread, and each step is a round trip. */
export const DEAD_STEP = { alone: 2_000, shared: 50_000 }

interface CountedStep {
  /** The place that the step begins after. */
  after: DeadLetterPlace
  found: number
}

/** Returns the dead letters of the scope after a place, newest first, as a statement goes on from `from`. */
export function deadAfter(db: Db, scope: DeadLetterScope, after: DeadLetterPlace) {
  const { from, where, values } = deadOf(db, scope)
  return {
    from: `${from} where ${where} and (d.dead_lettered_at, d.id) < (?, ?) order by d.dead_lettered_at desc, d.id desc`,
    values: [...values, after.dead_lettered_at, after.id],
  }
}

/** Yields how many dead letters the scope has, a step at a time from the newest on, with a pause in between. */
export async function* countedSteps(db: Db, scope: DeadLetterScope, pause: Pause): AsyncGenerator<CountedStep> {
  const step = db.isShared ? DEAD_STEP.shared : DEAD_STEP.alone
  for (let after = NEWEST; ; await pause()) {
    const { from, values } = deadAfter(db, scope, after)
    const counted = await one<{ n: number }>(
      db,
      `select count(*) as n from (select d.id from ${from} limit ?) as page`,
      [...values, step],
    )
    const found = counted?.n ?? 0
    yield { after, found }
    if (found < step) return
    // The last of the step.
    const last = await one<DeadLetterPlace>(db, `select d.dead_lettered_at, d.id from ${from} limit 1 offset ?`, [
      ...values,
      step - 1,
    ])
    if (!last) return
    after = last
  }
}

/** Counts the dead letters of the scope. Locks nothing. */
export async function countDeadLetters(db: Db, scope: DeadLetterScope, pause: Pause): Promise<number> {
  let total = 0
  for await (const { found } of countedSteps(db, scope, pause)) total += found
  return total
}
