// /delivery/dlq: operations on many dead letters at once. Those on a single one are in delivery.ts.
import { operations, type DeadLetterChoice } from '@sensorium/contract'
import type { Activity } from '../activity/activity.ts'
import type { Principal } from '../auth/principal.ts'
import { writeLapsed } from '../delivery/lapse.ts'
import type { PolicyOf } from '../delivery/policy.ts'
import { summarizeDeadLetters } from '../delivery/summarize-dead-letters.ts'
import {
  makeSettleDeadLetters,
  type SettleDeadLettersTools,
  type SettleProgress,
  type SettleRecord,
  type Settled,
} from '../events/settle-dead-letters.ts'
import { own, read, type Binding } from './binding.ts'
import { deadLetterScope } from './delivery.ts'
import type { RecordResponse } from './idempotency.ts'
import { ok, type OperationResponse } from './response.ts'

export interface DeadLetterOperationTools extends SettleDeadLettersTools {
  activity: Activity
  policyOf: PolicyOf
  now(): number
}

export function deadLetterOperations(tools: DeadLetterOperationTools): Binding[] {
  const { store, activity, policyOf, now } = tools
  const settle = makeSettleDeadLetters(tools)
  /** Writes down lapsed deliveries first, so that they are found too. */
  const scopeOf = async (principal: Principal) => {
    await writeLapsed(store, activity, principal.tenantId, now(), policyOf(principal.tenantId))
    return deadLetterScope(principal)
  }

  async function settleAll(
    what: 'replay' | 'discard',
    principal: Principal,
    choice: DeadLetterChoice,
    record: RecordResponse | null,
    respond: (settled: Settled) => OperationResponse,
  ): Promise<OperationResponse> {
    const scope = await scopeOf(principal)
    const recording: SettleRecord | null = record && {
      earlier: record.earlier as SettleProgress | null,
      async continued(tx, progress, isChanged) {
        if (isChanged) await record.begun(tx)
        await record.reserve(tx, progress)
      },
      ended: (tx, settled) => record(tx, { ...respond(settled), unchanged: settled.done === 0 }),
    }
    return respond(await settle(what, principal, scope, choice, recording))
  }

  return [
    own(operations.replayDeadLetters, ({ principal, body }, record) =>
      settleAll('replay', principal, body, record, ({ matched, done }) => ok({ matched, replayed: done })),
    ),

    own(operations.discardDeadLetters, ({ principal, body }, record) =>
      settleAll('discard', principal, body, record, ({ matched, done }) => ok({ matched, discarded: done })),
    ),

    read(operations.getDeadLetterSummary, async ({ principal }, db) =>
      ok(await summarizeDeadLetters(db, await scopeOf(principal))),
    ),
  ]
}
