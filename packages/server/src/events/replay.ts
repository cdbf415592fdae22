// A dead letter starts over, with the priority and the enrichment that today's interests and feeds give it.
import { isId } from '@sensorium/contract'
import type { Activity } from '../activity/activity.ts'
import type { Router } from '../routing/router.ts'
import { matchAtOnce } from '../routing/match.ts'
import type { Match } from '../routing/table.ts'
import type { DeliveryPolicy } from '../delivery/policy.ts'
import { lapseOne } from '../delivery/lapse.ts'
import { lockDeadLetter, revive, type DeadLetterScope, type Fresh } from '../delivery/dead-letters.ts'
import type { Wakeups } from '../delivery/wake.ts'
import type { Db } from '../store/db.ts'
import { envelopeOf } from './envelope.ts'
import { addressedPart, matchedText } from './matched.ts'

/** What applies today to a delivery that was made by `matched`; null where nothing matches it any more. */
export const freshOf = (match: Match | undefined, matched: string): Fresh | null =>
  match
    ? {
        priority: match.priority,
        enrichment: match.enrichment,
        matched: matchedText(match.matched, addressedPart(matched)),
      }
    : null

export async function replayDeadLetter(
  tx: Db,
  { router, wakeups, activity }: { router: Router; wakeups: Wakeups; activity: Activity },
  scope: DeadLetterScope,
  id: string,
  now: number,
  policy: DeliveryPolicy,
): Promise<void> {
  if (isId('delivery', id)) await lapseOne(tx, activity, scope.tenantId, id, now, policy)
  const { mailbox, envelope, matched } = await lockDeadLetter(tx, scope, id)
  const table = (await router.tables(tx, [scope.tenantId])).get(scope.tenantId)!
  const { matches } = matchAtOnce(table, envelopeOf(envelope), router.matching)
  const match = matches.get(mailbox.recipientId)
  await revive(tx, mailbox, id, freshOf(match, matched))
  tx.afterCommit(() => wakeups.wake([mailbox.recipientId]))
}
