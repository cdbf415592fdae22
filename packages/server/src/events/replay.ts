// Starts a dead letter over, with the priority and the enrichment that today's interests and feeds give it.
import { isId } from '@sensorium/contract'
import type { Activity } from '../activity/activity.ts'
import type { Principal } from '../auth/principal.ts'
import type { Router } from '../routing/router.ts'
import type { PolicyOf } from '../delivery/policy.ts'
import { lapseOne } from '../delivery/lapse.ts'
import { lockDeadLetters, revive, type CurrentRouting, type LockedDeadLetter } from '../delivery/dead-letters-sql.ts'
import type { DeadLetterScope } from '../delivery/find-dead-letters.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { notFound } from '../kernel/failure.ts'
import type { Db, Store } from '../store/db.ts'
import { addressedPart, matchedText } from './matched.ts'
import { makeRouteStored, retryWhileRoutingMoves, type RoutedStored } from './route-stored.ts'
import { eventOfDelivery } from './sql.ts'

/** Returns what applies to a dead letter today; null if nothing matches it any more. */
function currentRoutingOf(letter: LockedDeadLetter, routed: RoutedStored): CurrentRouting | null {
  const match = routed.matchOf(letter.event_id, letter.recipient_id)
  if (!match) return null
  const { priority, enrichment, matched } = match
  return { priority, enrichment, matched: matchedText(matched, addressedPart(letter.matched)) }
}

/**
 * Starts over dead letters that the caller has locked, each with what applies to it today, and wakes their mailboxes.
 */
export async function reviveDeadLetters(
  tx: Db,
  { router, wakeups }: Pick<ReplayTools, 'router' | 'wakeups'>,
  tenantId: string,
  letters: readonly LockedDeadLetter[],
  routed: RoutedStored,
  canStartOver: boolean,
): Promise<void> {
  const table = (await router.tables(tx, [tenantId], canStartOver)).get(tenantId)!
  if (canStartOver) routed.requireCurrent(table)
  const current = letters.map((letter) => [letter, currentRoutingOf(letter, routed)] as const)
  await revive(tx, tenantId, current)
  tx.afterCommit(() => wakeups.wake(new Set(letters.map(({ recipient_id }) => recipient_id))))
}

export interface ReplayTools {
  store: Store
  router: Router
  wakeups: Wakeups
  activity: Activity
  policyOf: PolicyOf
  now(): number
}

/** `record` writes the record of the response into the transaction. */
type ReplayDeadLetter = (
  principal: Principal,
  scope: DeadLetterScope,
  id: string,
  record: (tx: Db) => Promise<void>,
) => Promise<void>

export function makeReplayDeadLetter(tools: ReplayTools): ReplayDeadLetter {
  const { store, router, now } = tools
  const routeStored = makeRouteStored(router, store)

  return async (principal, scope, id, record) => {
    const { tenantId } = scope
    if (!isId('delivery', id)) throw notFound('delivery', id)
    const events = await eventOfDelivery(store, tenantId, id)
    await retryWhileRoutingMoves(async (canStartOver) => {
      const routed = await routeStored(tenantId, principal.id, events)
      await store.tx(async (tx) => {
        if (events.length > 0) await lapseOne(tx, tools, tenantId, id, now())
        const [letter] = await lockDeadLetters(tx, tenantId, [id])
        if (!letter || letter.recipient_id !== (scope.recipientId ?? letter.recipient_id))
          throw notFound('delivery', id)
        await reviveDeadLetters(tx, tools, tenantId, [letter], routed, canStartOver)
        await record(tx)
      })
    })
  }
}
