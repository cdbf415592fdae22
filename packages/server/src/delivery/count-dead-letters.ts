// Counts dead letters in steps: SQLite counts on the main thread, and takes 50 ms for 60,000 at once.
import type { Pause } from '../kernel/step-turns.ts'
import { one, type Db, type Value } from '../store/db.ts'
import { deadOf, NEWEST, type DeadLetterPlace, type DeadLetterScope } from './find-dead-letters.ts'

/** Dead letters of a step. A database server counts beside this thread, and each step is a round trip. */
export const DEAD_STEP = { alone: 2_000, shared: 50_000 }

interface CountedStep {
  /** The dead letters of the step. */
  part: Part
  found: number
}

/** What selects the dead letters after a place, up to and with another one. */
interface Part {
  from: string
  values: Value[]
}

function partOf(db: Db, scope: DeadLetterScope, after: DeadLetterPlace, edge: DeadLetterPlace | null): Part {
  const { from, where, values } = deadOf(db, scope)
  const upTo = edge === null ? '' : ' and (d.dead_lettered_at, d.id) >= (?, ?)'
  return {
    from: `${from} where ${where} and (d.dead_lettered_at, d.id) < (?, ?)${upTo}`,
    values: [...values, after.dead_lettered_at, after.id, ...(edge ? [edge.dead_lettered_at, edge.id] : [])],
  }
}

/**
 * Counts those after a place up to the end of a step. Returns the last one of the step too, which is null if it has all
 * that are left: one that is added meanwhile does not move the end.
 */
async function countStep(
  db: Db,
  scope: DeadLetterScope,
  after: DeadLetterPlace,
): Promise<{ found: number; edge: DeadLetterPlace | null }> {
  const step = db.isShared ? DEAD_STEP.shared : DEAD_STEP.alone
  const { from, values } = partOf(db, scope, after, null)
  // The place where the step ends, and what lies before it. Locks nothing.
  const counted = await one<{ n: number; dead_lettered_at: number | null; id: string | null }>(
    db,
    `with edge as materialized (
       select d.dead_lettered_at, d.id from ${from} order by d.dead_lettered_at desc, d.id desc limit 1 offset ${step - 1})
     select (select dead_lettered_at from edge) as dead_lettered_at, (select id from edge) as id,
            (select count(*) from ${from} and (d.dead_lettered_at, d.id) >=
               (coalesce((select dead_lettered_at from edge), 0), coalesce((select id from edge), ''))) as n`,
    [...values, ...values],
  )
  const { n: found = 0, dead_lettered_at = null, id = null } = counted ?? {}
  return { found, edge: dead_lettered_at === null || id === null ? null : { dead_lettered_at, id } }
}

/** Yields how many dead letters the scope has, a step at a time from the newest on, with a pause in between. */
export async function* countedSteps(db: Db, scope: DeadLetterScope, pause: Pause): AsyncGenerator<CountedStep> {
  for (let after = NEWEST; ; await pause()) {
    const { found, edge } = await countStep(db, scope, after)
    yield { part: partOf(db, scope, after, edge), found }
    if (edge === null) return
    after = edge
  }
}

/** Counts the dead letters of the scope. Locks nothing. */
export async function countDeadLetters(db: Db, scope: DeadLetterScope, pause: Pause): Promise<number> {
  let total = 0
  for await (const { found } of countedSteps(db, scope, pause)) total += found
  return total
}
