// /delivery/dlq: lists, counts, replays and discards dead letters.
//
// Searching them may take seconds. One page is read in a turn of the event loop, for all callers together. A summary
// and a bulk operation also keep megabytes while they run, so few run at once.
import { operations, type DeadLetterChoice } from '@sensorium/contract'
import { isOrgAdmin, type Principal } from '../auth/principal.ts'
import type { DeadLetterScope } from '../delivery/find-dead-letters.ts'
import { listDeadLetters } from '../delivery/list-dead-letters.ts'
import { writeLapsed } from '../delivery/lapse.ts'
import { summarizeDeadLetters } from '../delivery/summarize-dead-letters.ts'
import { makeReplayDeadLetter, type ReplayTools } from '../events/replay.ts'
import {
  makeSettleDeadLetters,
  type SettleProgress,
  type SettleRecord,
  type Settled,
} from '../events/settle-dead-letters.ts'
import { makeStepTurns } from '../kernel/step-turns.ts'
import { makeTurns } from '../kernel/turns.ts'
import { own, read, type Binding } from './binding.ts'
import type { RecordResponse } from './write-record.ts'
import { pauseOf } from './pause-of.ts'
import { ok, type OperationResponse } from './response.ts'

const deadLetterScope = (principal: Principal): DeadLetterScope => ({
  tenantId: principal.tenantId,
  recipientId: isOrgAdmin(principal) ? null : principal.id,
})

/** How many summaries and bulk operations run at once on a node, and how many more an agent may have waiting. */
const AT_ONCE = { atOnce: 4, kept: 2, perAgent: 8 }

export function deadLetterOperations(tools: ReplayTools): Binding[] {
  const { now } = tools
  const replay = makeReplayDeadLetter(tools)
  const settle = makeSettleDeadLetters(tools)
  const pages = makeStepTurns()
  const running = makeTurns({ what: 'summaries and bulk operations on dead letters waiting', ...AT_ONCE })
  /** Writes down lapsed deliveries first, so that they are found too. */
  const scopeOf = async (principal: Principal) => {
    await writeLapsed(tools, principal.tenantId, now())
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
    // Goes on when its client has gone: it may have done a part already.
    const { tenantId, id } = principal
    const pause = (): Promise<void> => pages.take(tenantId, id)
    return respond(await running.take(tenantId, id, () => settle(what, principal, scope, choice, recording, pause)))
  }

  return [
    // Runs its own transaction: before it, the event is routed to find what it matches today.
    own(operations.replayDeadLetter, async ({ principal, params: { id } }, record) => {
      const response = { ...ok({ status: 'replayed', delivery_id: id }), resourceId: id }
      await replay(principal, deadLetterScope(principal), id, async (tx) => record?.(tx, response))
      return response
    }),

    own(operations.replayDeadLetters, ({ principal, body }, record) =>
      settleAll('replay', principal, body, record, ({ matched, done }) => ok({ matched, replayed: done })),
    ),

    own(operations.discardDeadLetters, ({ principal, body }, record) =>
      settleAll('discard', principal, body, record, ({ matched, done }) => ok({ matched, discarded: done })),
    ),

    read(operations.listDeadLetters, async (call, db) => {
      const { offset = 0, limit = 50, ...filter } = call.query
      const scope = await scopeOf(call.principal)
      return { status: 200, ...(await listDeadLetters(db, scope, filter, offset, limit, pauseOf(pages, call))) }
    }),

    read(operations.getDeadLetterSummary, async (call, db) => {
      const { tenantId, id } = call.principal
      const scope = await scopeOf(call.principal)
      return ok(await running.take(tenantId, id, () => summarizeDeadLetters(db, scope, pauseOf(pages, call))))
    }),
  ]
}
