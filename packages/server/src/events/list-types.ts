// The types of events that a tenant has, and how many agents listen to each.
import { performance } from 'node:perf_hooks'
import { dayNumber } from '../activity/event-types-sql.ts'
import { pageTypes } from '../activity/page-types.ts'
import { iso } from '../kernel/clock.ts'
import { inSteps, type Pause } from '../kernel/step-turns.ts'
import type { Router } from '../routing/router.ts'
import type { RoutingTable } from '../routing/table.ts'
import type { Db } from '../store/db.ts'

interface ListedType {
  type: string
  count: number
  last_at: string
  listeners: number
}

/** How many pairs of a subscription and a recipient are counted for one type. */
const MAX_COUNTED = 10_000
/** How long to count before other work gets a turn. */
const STEP_MS = 2

/** Counts the recipients that have a subscription whose pattern matches, whatever its filter says. */
function* listenersOf(table: RoutingTable, type: string, took: () => boolean): Generator<void, number> {
  const listeners = new Set<string>()
  let counted = 0
  for (const { subscriptions } of yield* table.candidates(type, took))
    for (const subscription of subscriptions.values())
      for (const recipient of table.recipientsOf(subscription)) {
        listeners.add(recipient)
        if (++counted >= MAX_COUNTED) return listeners.size
      }
  return listeners.size
}

export async function listTypes(
  db: Db,
  router: Router,
  tenantId: string,
  { offset = 0, limit = 50 }: { offset?: number; limit?: number },
  retainedSince: number,
  pause: Pause,
): Promise<{ types: ListedType[]; total: number }> {
  const { rows, total } = await pageTypes(db, tenantId, dayNumber(retainedSince), offset, limit, pause)
  const table = (await router.tables(db, [tenantId], false)).get(tenantId)!
  const types: ListedType[] = []
  let began = performance.now()
  // Counting may take milliseconds for each type. If it takes no time, a pause after each of 200 types would be the
  // longest part of it on a busy node.
  const isStepOver = (): boolean => performance.now() - began >= STEP_MS
  const paused: Pause = async () => {
    await pause()
    began = performance.now()
  }
  for (const { type, count, last_at } of rows) {
    const listeners = await inSteps(listenersOf(table, type, isStepOver), paused)
    types.push({ type, count, last_at: iso(last_at), listeners })
    if (isStepOver()) await paused()
  }
  return { types, total }
}
