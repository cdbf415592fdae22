// /delivery/dlq: many at once. One at a time stands in delivery.ts.
import { operations } from '@sensorium/contract'
import type { Activity } from '../activity/activity.ts'
import type { Principal } from '../auth/principal.ts'
import { writeLapsed } from '../delivery/lapse.ts'
import type { PolicyOf } from '../delivery/policy.ts'
import { summarizeDeadLetters } from '../delivery/summarize-dead-letters.ts'
import { makeSettleDeadLetters, type SettleDeadLettersTools } from '../events/settle-dead-letters.ts'
import { own, type Binding } from './binding.ts'
import { deadLetterScope } from './delivery.ts'
import { ok } from './response.ts'

export interface DeadLetterOperationTools extends SettleDeadLettersTools {
  activity: Activity
  policyOf: PolicyOf
  now(): number
}

export function deadLetterOperations(tools: DeadLetterOperationTools): Binding[] {
  const { store, activity, policyOf, now } = tools
  const settle = makeSettleDeadLetters(tools)
  /** What the clock has already decided is there to be found. */
  const scopeOf = async (principal: Principal) => {
    await writeLapsed(store, activity, principal.tenantId, now(), policyOf(principal.tenantId))
    return deadLetterScope(principal)
  }

  return [
    own(operations.replayDeadLetters, async ({ principal, body }, record) => {
      const respond = (replayed: { matched: number; done: number }) =>
        ok({ matched: replayed.matched, replayed: replayed.done })
      const scope = await scopeOf(principal)
      return respond(
        await settle('replay', principal, scope, body, record && ((tx, settled) => record(tx, respond(settled)))),
      )
    }),

    own(operations.discardDeadLetters, async ({ principal, body }, record) => {
      const respond = (discarded: { matched: number; done: number }) =>
        ok({ matched: discarded.matched, discarded: discarded.done })
      const scope = await scopeOf(principal)
      return respond(
        await settle('discard', principal, scope, body, record && ((tx, settled) => record(tx, respond(settled)))),
      )
    }),

    own(operations.getDeadLetterSummary, async ({ principal }) =>
      ok(await summarizeDeadLetters(store, await scopeOf(principal))),
    ),
  ]
}
