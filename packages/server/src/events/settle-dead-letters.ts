// Replays or discards many dead letters, in steps: a step is a transaction of some milliseconds, and tenants take
// turns. Events to be replayed are routed before the transaction.
//
// Steps go from the newest dead letter to the oldest. A call that stopped halfway and comes again goes on below the
// last one that it handled, and takes no more in all than it had chosen at first.
import type { DeadLetterChoice } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { deleteDeadLetters, lockDeadLetters } from '../delivery/dead-letters-sql.ts'
import {
  findDeadLetters,
  namedDeadLetters,
  type DeadLetterPlace,
  type DeadLetterScope,
  type FoundDeadLetter,
} from '../delivery/find-dead-letters.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { invalid } from '../kernel/failure.ts'
import type { Pause } from '../kernel/step-turns.ts'
import { makeTurns, type Turns } from '../kernel/turns.ts'
import type { Router } from '../routing/router.ts'
import type { Db, Store } from '../store/db.ts'
import { reviveDeadLetters } from './replay.ts'
import { makeRouteStored, retryWhileRoutingMoves } from './route-stored.ts'
import { readEnvelopes } from './sql.ts'

interface SettleDeadLettersTools {
  store: Store
  router: Router
  wakeups: Wakeups
}

export interface Settled {
  matched: number
  done: number
}

type SettleDeadLetters = (
  what: 'replay' | 'discard',
  principal: Principal,
  scope: DeadLetterScope,
  choice: DeadLetterChoice,
  record: SettleRecord | null,
  pause: Pause,
) => Promise<Settled>

/** How far a call has come, after a step. */
export interface SettleProgress extends Settled {
  /** How many of the matched dead letters its steps have handled, whether they were still there or not. */
  handled: number
  last: DeadLetterPlace
}

export interface SettleRecord {
  /** The progress of the same call that did not come to its end, or null. */
  earlier: SettleProgress | null
  /** Called in a step that is not the last. */
  continued(tx: Db, progress: SettleProgress, isChanged: boolean): Promise<void>
  /** Called in the last step. */
  ended(tx: Db, settled: Settled): Promise<void>
}

const DEFAULT_LIMIT = 1_000
/** How many dead letters a filter scans. */
const MAX_LOOKED = 100_000
/** The most a step has: rows, and bytes of envelopes to be routed. */
const STEP_ROWS = 100
const STEP_BYTES = 1_000_000

function chosen(
  db: Db,
  scope: DeadLetterScope,
  choice: DeadLetterChoice,
  earlier: SettleProgress | null,
  pause: Pause,
): Promise<FoundDeadLetter[]> {
  const { delivery_ids: ids, filter, limit } = choice
  if ((ids === undefined) === (filter === undefined))
    throw invalid({
      field: ids === undefined ? 'delivery_ids' : 'filter',
      value: ids === undefined ? null : filter,
      expected: 'either delivery_ids or filter',
      example: ids === undefined ? ['dlv_01hv3k8z9q4m7t2x5c6w8r0s1d'] : null,
    })
  // Ignored, it would let a discard delete more than was asked for.
  if (ids && limit !== undefined)
    throw invalid({ field: 'limit', value: limit, expected: 'no limit beside delivery_ids', example: null })
  if (ids) return namedDeadLetters(db, scope, ids, earlier?.last)
  const most = earlier ? earlier.matched - earlier.handled : (limit ?? DEFAULT_LIMIT)
  return findDeadLetters(db, scope, filter!, most, { look: MAX_LOOKED, pause, ...(earlier && { after: earlier.last }) })
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

export function makeSettleDeadLetters(tools: SettleDeadLettersTools): SettleDeadLetters {
  const { store, router } = tools
  const turns: Turns = makeTurns({ what: 'bulk operations on dead letters waiting', atOnce: 1, perAgent: 8 })
  const routeStored = makeRouteStored(router, store)

  return async (what, principal, scope, choice, record, pause) => {
    const { tenantId } = scope
    const earlier = record?.earlier ?? null
    let left = await chosen(store, scope, choice, earlier, pause)
    const settled: Settled = { matched: earlier?.matched ?? left.length, done: earlier?.done ?? 0 }
    let handled = earlier?.handled ?? 0
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
        else {
          const { dead_lettered_at, id } = letters.at(-1)!
          const progress = { ...after, handled: handled + letters.length, last: { dead_lettered_at, id } }
          await record?.continued(tx, progress, done > 0)
        }
        tx.afterCommit(() => (settled.done = after.done))
      })
    }

    async function replay(letters: readonly FoundDeadLetter[]): Promise<void> {
      const eventIds = [...new Set(letters.map(({ event_id }) => event_id))]
      const events = await readEnvelopes(store, tenantId, eventIds)
      await retryWhileRoutingMoves(async (canStartOver) => {
        const routed = await routeStored(tenantId, principal.id, events)
        await step(letters, async (tx, ids) => {
          const locked = await lockDeadLetters(tx, tenantId, ids)
          const revived = locked.filter(({ event_id }) => routed.has(event_id))
          await reviveDeadLetters(tx, tools, tenantId, revived, routed, canStartOver)
          return revived.length
        })
      })
    }

    do {
      const letters = firstStep(left)
      await turns.take(tenantId, principal.id, () =>
        what === 'replay' ? replay(letters) : step(letters, (tx, ids) => deleteDeadLetters(tx, tenantId, ids)),
      )
      left = left.slice(letters.length)
      handled += letters.length
    } while (left.length > 0)
    return settled
  }
}
