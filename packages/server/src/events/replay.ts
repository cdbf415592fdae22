// Starts a dead letter over, with the priority and the enrichment that today's interests and feeds give it.
import { isId } from '@sensorium/contract'
import type { Activity } from '../activity/activity.ts'
import type { Principal } from '../auth/principal.ts'
import type { Router } from '../routing/router.ts'
import type { Match } from '../routing/table.ts'
import type { PolicyOf } from '../delivery/policy.ts'
import { lapseOne } from '../delivery/lapse.ts'
import { lockDeadLetters, revive, type CurrentRouting } from '../delivery/dead-letters.ts'
import type { DeadLetterScope } from '../delivery/find-dead-letters.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { notFound } from '../kernel/failure.ts'
import type { Db, Store } from '../store/db.ts'
import { addressedPart, matchedText } from './matched.ts'
import { makeRouteStored, retryWhileRoutingMoves } from './route-stored.ts'
import { eventOfDelivery } from './sql.ts'

/** Returns what applies today to a delivery that was made by `matched`; null if nothing matches it any more. */
export const currentRoutingOf = (match: Match | undefined, matched: string): CurrentRouting | null =>
  match
    ? {
        priority: match.priority,
        enrichment: match.enrichment,
        matched: matchedText(match.matched, addressedPart(matched)),
      }
    : null

export interface ReplayTools {
  store: Store
  router: Router
  wakeups: Wakeups
  activity: Activity
  policyOf: PolicyOf
  now(): number
}

/** `record` writes the record of the response into the transaction. */
export type ReplayDeadLetter = (
  principal: Principal,
  scope: DeadLetterScope,
  id: string,
  record: (tx: Db) => Promise<void>,
) => Promise<void>

export function makeReplayDeadLetter({
  store,
  router,
  wakeups,
  activity,
  policyOf,
  now,
}: ReplayTools): ReplayDeadLetter {
  const routeStored = makeRouteStored(router, store)

  return async (principal, scope, id, record) => {
    const { tenantId } = scope
    if (!isId('delivery', id)) throw notFound('delivery', id)
    const events = await eventOfDelivery(store, tenantId, id)
    await retryWhileRoutingMoves(async (canStartOver) => {
      const routed = await routeStored(tenantId, principal.id, events)
      await store.tx(async (tx) => {
        if (events.length > 0) await lapseOne(tx, activity, tenantId, id, now(), policyOf(tenantId))
        const [letter] = await lockDeadLetters(tx, tenantId, [id])
        const recipientId = scope.recipientId ?? letter?.recipient_id
        if (!letter || letter.recipient_id !== recipientId) throw notFound('delivery', id)
        const table = (await router.tables(tx, [tenantId], canStartOver)).get(tenantId)!
        if (canStartOver) routed.requireCurrent(table)
        const current = currentRoutingOf(routed.matchOf(letter.event_id, recipientId), letter.matched)
        await revive(tx, tenantId, [[letter, current]])
        tx.afterCommit(() => wakeups.wake([recipientId]))
        await record(tx)
      })
    })
  }
}
