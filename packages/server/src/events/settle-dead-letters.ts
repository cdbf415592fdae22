// Replays or discards many dead letters, in steps: a step is a transaction of some milliseconds, and tenants take
// turns. Events to be replayed are routed before the transaction.
import type { DeadLetterChoice } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { deleteDeadLetters, lockDeadLetters, reviveMany, type DeadLetterScope } from '../delivery/dead-letters.ts'
import { findDeadLetters, namedDeadLetters, type FoundDeadLetter } from '../delivery/find-dead-letters.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { invalid } from '../kernel/failure.ts'
import { makeTurns, type Turns } from '../kernel/turns.ts'
import type { Router } from '../routing/router.ts'
import type { Db, Store } from '../store/db.ts'
import { currentRoutingOf } from './replay.ts'
import { makeRouteStored, retryWhileRoutingMoves, type RoutedStored } from './route-stored.ts'
import { readEnvelopes } from './sql.ts'

export interface SettleDeadLettersTools {
  store: Store
  router: Router
  wakeups: Wakeups
}

export interface Settled {
  matched: number
  done: number
}

export type SettleDeadLetters = (
  what: 'replay' | 'discard',
  principal: Principal,
  scope: DeadLetterScope,
  choice: DeadLetterChoice,
  record: SettleRecord | null,
) => Promise<Settled>

export interface SettleRecord {
  /** Called in a step that has changed something and is not the last. */
  begun?(tx: Db): Promise<void>
  /** Called in the last step. */
  ended(tx: Db, settled: Settled): Promise<void>
}

const DEFAULT_LIMIT = 1_000
/** How many dead letters a filter scans. */
const MAX_LOOKED = 100_000
/** The most a step has: rows, and bytes of envelopes to be routed. */
const STEP_ROWS = 100
const STEP_BYTES = 1_000_000

function chosen(db: Db, scope: DeadLetterScope, choice: DeadLetterChoice): Promise<FoundDeadLetter[]> {
  const { delivery_ids: ids, filter, limit = DEFAULT_LIMIT } = choice
  if ((ids === undefined) === (filter === undefined))
    throw invalid({
      field: ids === undefined ? 'delivery_ids' : 'filter',
      value: ids === undefined ? null : filter,
      expected: 'either delivery_ids or filter',
      example: ids === undefined ? ['dlv_01hv3k8z9q4m7t2x5c6w8r0s1d'] : null,
    })
  return ids ? namedDeadLetters(db, scope, ids) : findDeadLetters(db, scope, filter!, limit, MAX_LOOKED)
}

/** Returns the first dead letters that make a step together, at least one. */
function firstStep(letters: readonly FoundDeadLetter[]): FoundDeadLetter[] {
  const step: FoundDeadLetter[] = []
  let bytes = 0
  for (const letter of letters) {
    bytes += letter.bytes
    if (step.length > 0 && (step.length === STEP_ROWS || bytes > STEP_BYTES)) break
    step.push(letter)
  }
  return step
}

/** Revives those that are still dead letters, each with what applies to it today. Returns how many. */
async function replayStep(
  tx: Db,
  { router, wakeups }: SettleDeadLettersTools,
  tenantId: string,
  ids: string[],
  routed: RoutedStored,
  mustBeCurrent: boolean,
): Promise<number> {
  const locked = await lockDeadLetters(tx, tenantId, ids)
  const table = (await router.tables(tx, [tenantId])).get(tenantId)!
  if (mustBeCurrent) routed.requireCurrent(table)
  const revived = locked
    .filter(({ event_id }) => routed.has(event_id))
    .map((row) => [row, currentRoutingOf(routed.matchOf(row.event_id, row.recipient_id), row.matched)] as const)
  await reviveMany(tx, tenantId, revived)
  const recipients = new Set(revived.map(([{ recipient_id }]) => recipient_id))
  tx.afterCommit(() => wakeups.wake(recipients))
  return revived.length
}

export function makeSettleDeadLetters(tools: SettleDeadLettersTools): SettleDeadLetters {
  const { store, router } = tools
  const turns: Turns = makeTurns({ what: 'bulk operations on dead letters waiting', atOnce: 1, perAgent: 8 })
  const routeStored = makeRouteStored(router, store)

  return async (what, principal, scope, choice, record) => {
    const { tenantId } = scope
    let left = await chosen(store, scope, choice)
    const settled: Settled = { matched: left.length, done: 0 }
    if (choice.dry_run) left = []

    /** Runs one transaction; `work` returns how many dead letters it settled. */
    async function step(letters: readonly FoundDeadLetter[], work: (tx: Db, ids: string[]) => Promise<number>) {
      await store.tx(async (tx) => {
        const done = await work(
          tx,
          letters.map(({ id }) => id),
        )
        const after = { ...settled, done: settled.done + done }
        if (letters.length === left.length) await record?.ended(tx, after)
        else if (done > 0) await record?.begun?.(tx)
        tx.afterCommit(() => (settled.done = after.done))
      })
    }

    async function replay(letters: readonly FoundDeadLetter[]): Promise<void> {
      const eventIds = [...new Set(letters.map(({ event_id }) => event_id))]
      const events = await readEnvelopes(store, tenantId, eventIds)
      await retryWhileRoutingMoves(async (mustBeCurrent) => {
        const routed = await routeStored(tenantId, principal.id, events)
        await step(letters, (tx, ids) => replayStep(tx, tools, tenantId, ids, routed, mustBeCurrent))
      })
    }

    do {
      const letters = firstStep(left)
      await turns.take(tenantId, principal.id, () =>
        what === 'replay' ? replay(letters) : step(letters, (tx, ids) => deleteDeadLetters(tx, tenantId, ids)),
      )
      left = left.slice(letters.length)
    } while (left.length > 0)
    return settled
  }
}
