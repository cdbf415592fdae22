// Replays or discards many dead letters, in steps: a step is a transaction of some milliseconds, and tenants take turns.
import type { DeadLetterChoice } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import {
  deleteDeadLetters,
  lockDeadLetters,
  reviveMany,
  type DeadLetterScope,
  type LockedDeadLetter,
} from '../delivery/dead-letters.ts'
import { findDeadLetters, namedDeadLetters, type FoundDeadLetter } from '../delivery/find-dead-letters.ts'
import type { Wakeups } from '../delivery/wake.ts'
import { invalid } from '../kernel/failure.ts'
import { makeTurns, type Turns } from '../kernel/turns.ts'
import { matchAtOnce } from '../routing/match.ts'
import type { Router } from '../routing/router.ts'
import type { RoutingTable } from '../routing/table.ts'
import type { Db, Store } from '../store/db.ts'
import { envelopeOf } from './envelope.ts'
import { freshOf } from './replay.ts'
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
  record: ((tx: Db, settled: Settled) => Promise<void>) | null,
) => Promise<Settled>

const DEFAULT_LIMIT = 1_000
/** Dead letters that a filter looks at. */
const MAX_LOOKED = 100_000
/** Of a step: rows, bytes of envelopes to be routed, and milliseconds of routing. */
const STEP_ROWS = 100
const STEP_BYTES = 1_000_000
const STEP_MS = 25

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

/** The first of these that make a step together; one is always taken. */
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

/** Routes and revives as many as there is time for; returns how many of these are seen to, and how many were revived. */
async function replaySome(
  tx: Db,
  { router, wakeups }: SettleDeadLettersTools,
  tenantId: string,
  ids: string[],
): Promise<{ seen: number; done: number }> {
  const locked = new Map((await lockDeadLetters(tx, tenantId, ids)).map((row) => [row.id, row]))
  const events = [...new Set([...locked.values()].map(({ event_id }) => event_id))]
  const envelopes = new Map((await readEnvelopes(tx, tenantId, events)).map(({ id, envelope }) => [id, envelope]))
  const table = (await router.tables(tx, [tenantId])).get(tenantId)!
  const until = performance.now() + STEP_MS
  const revived: [LockedDeadLetter, ReturnType<typeof freshOf>][] = []
  let seen = 0
  for (const id of ids) {
    if (seen > 0 && performance.now() > until) break
    seen++
    const row = locked.get(id)
    const envelope = row && envelopes.get(row.event_id)
    if (row && envelope) revived.push([row, freshFor(router, table, row, envelope)])
  }
  await reviveMany(tx, tenantId, revived)
  const recipients = new Set(revived.map(([{ recipient_id }]) => recipient_id))
  tx.afterCommit(() => wakeups.wake(recipients))
  return { seen, done: revived.length }
}

function freshFor(router: Router, table: RoutingTable, row: LockedDeadLetter, envelope: string) {
  const { matches } = matchAtOnce(table, envelopeOf(envelope), router.matching)
  return freshOf(matches.get(row.recipient_id), row.matched)
}

export function makeSettleDeadLetters(tools: SettleDeadLettersTools): SettleDeadLetters {
  const { store } = tools
  const turns: Turns = makeTurns({ what: 'bulk operations on dead letters waiting', atOnce: 1, perAgent: 8 })

  return async (what, principal, scope, choice, record) => {
    let left = await chosen(store, scope, choice)
    const settled: Settled = { matched: left.length, done: 0 }
    if (choice.dry_run) left = []
    do {
      const ids = firstStep(left).map(({ id }) => id)
      left = await turns.take(scope.tenantId, principal.id, () =>
        store.tx(async (tx) => {
          const { seen, done } =
            what === 'replay'
              ? await replaySome(tx, tools, scope.tenantId, ids)
              : { seen: ids.length, done: await deleteDeadLetters(tx, scope.tenantId, ids) }
          const after = { ...settled, done: settled.done + done }
          if (seen === left.length) await record?.(tx, after)
          tx.afterCommit(() => (settled.done = after.done))
          return left.slice(seen)
        }),
      )
    } while (left.length > 0)
    return settled
  }
}
