// Stores the outcomes of pushes. Those that arrive in the same turn, or while a transaction is under way, share the
// next transaction.
import type { Activity } from '../activity/activity.ts'
import type { Lease, LeasedDelivery } from '../delivery/claimed.ts'
import { withPushSchedule, type DeliveryPolicy, type PolicyOf } from '../delivery/policy.ts'
import { putBackIn } from '../delivery/put-back.ts'
import { afterFailedPush, type Next } from '../delivery/rules.ts'
import { acknowledgeAll, release, type SettleTools } from '../delivery/settle.ts'
import { byMailbox, leasedRows, ofMailbox, type Mailbox } from '../delivery/sql.ts'
import { writeNext } from '../delivery/write-next.ts'
import { makeBatches } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Db, Store } from '../store/db.ts'
import type { PushOutcome } from './outcome.ts'
import { switchToPoll } from './sql.ts'

export interface Pushed {
  mailbox: Mailbox
  delivery: LeasedDelivery
  /** As it is stored. */
  endpoint: string
  /** The agent's own push schedule, if it has one. */
  schedule: readonly number[] | null
  outcome: PushOutcome | Unknown
}

/**
 * What the endpoint would have responded is unknown, and the delivery is ready again. `interrupted`: the request was
 * begun, and this node shut down or had left it too little time; the attempt counts, or one that is always late would
 * never end. `not_sent`: it was not begun, and does not count.
 */
export type Unknown = { kind: 'interrupted'; why: string } | { kind: 'not_sent' }

type Interrupted = Pushed & { outcome: { kind: 'interrupted'; why: string } }
type Failed = Pushed & { outcome: { error: string } }

/** Resolves when the outcome is on disk, with the time of the next attempt if the delivery waits for one. */
type SettlePush = (pushed: Pushed) => Promise<number | null>

const MAX_GROUP = 200
/** The store may be unavailable for a moment, which the lease allows for. When it lapses the delivery is due again. */
const TRIES = 5
const TRY_AGAIN_MS = 1_000

export interface SettlePushTools extends SettleTools {
  store: Store
  clock: Clock
  log: Logger
  policyOf: PolicyOf
}

export function makeSettlePush(tools: SettlePushTools, stopping: AbortSignal): SettlePush {
  const { store, clock, log } = tools

  async function run(group: readonly Pushed[]): Promise<(number | null)[]> {
    for (let tries = 1; ; tries++) {
      try {
        const due = await store.tx((tx) => settle(tx, tools, group, clock.now()))
        return group.map(({ delivery }) => due.get(delivery.id) ?? null)
      } catch (error) {
        if (tries === TRIES) {
          log.warn({ err: error, deliveries: group.length }, 'the outcome of pushes could not be stored')
          return group.map(() => null)
        }
        await clock.sleep(TRY_AGAIN_MS, stopping)
      }
    }
  }

  return makeBatches<Pushed, number | null>({
    run,
    lanes: store.writers,
    maxItems: MAX_GROUP,
    ownerOf: ofMailbox,
  }).add
}

/** Writes the outcomes. Returns the deliveries that wait, with the time of the next attempt of each. */
async function settle(
  tx: Db,
  tools: SettlePushTools,
  group: readonly Pushed[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const mailboxes = Array.from(Map.groupBy(group, ({ mailbox }) => mailbox.recipientId).values(), (pushed) => ({
    mailbox: pushed[0]!.mailbox,
    pushed,
  })).sort(byMailbox)
  const acknowledged = mailboxes
    .map(({ mailbox, pushed }) => ({
      mailbox,
      ids: idsOf(pushed.filter(({ outcome }) => outcome.kind === 'acknowledged')),
    }))
    .filter(({ ids }) => ids.length > 0)
  // Metered together: a transaction that adds to several shards of the usage may deadlock with another.
  if (acknowledged.length > 0) await acknowledgeAll(tx, tools, acknowledged, now)
  // In parallel: on PostgreSQL the statements of all mailboxes go out together, step by step.
  const waiting = await Promise.all(
    mailboxes.map(({ mailbox, pushed }) => settleOthers(tx, tools, mailbox, pushed, now)),
  )
  return new Map(waiting.flat())
}

/** A delivery that waits, and the time of its next attempt. */
type Due = readonly [id: string, at: number]

/** Settles what was not acknowledged. */
async function settleOthers(
  tx: Db,
  { activity, policyOf }: SettlePushTools,
  mailbox: Mailbox,
  pushed: readonly Pushed[],
  now: number,
): Promise<Due[]> {
  const policy = policyOf(mailbox.tenantId)
  const notSent = pushed.filter(({ outcome }) => outcome.kind === 'not_sent')
  await putBackIn(tx, mailbox, leasesOf(notSent))
  const interrupted = pushed.filter((one): one is Interrupted => one.outcome.kind === 'interrupted')
  for (const [why, some] of Map.groupBy(interrupted, ({ outcome }) => outcome.why))
    await release(tx, activity, mailbox, leasesOf(some), now, policy, why)
  const failed = pushed.filter((one): one is Failed => 'error' in one.outcome)
  return failed.length > 0 ? settleFailed(tx, activity, mailbox, failed, now, policy) : []
}

async function settleFailed(
  tx: Db,
  activity: Activity,
  mailbox: Mailbox,
  failed: readonly Failed[],
  now: number,
  policy: DeliveryPolicy,
): Promise<Due[]> {
  const waiting: Due[] = []
  const held = await leasedRows(tx, mailbox, idsOf(failed), now)
  const rows = new Map(held.map((row) => [row.id, row]))
  for (const { delivery, endpoint, schedule, outcome } of failed) {
    if (outcome.kind === 'gone') await switchToPoll(tx, mailbox.tenantId, mailbox.recipientId, endpoint, now)
    const row = rows.get(delivery.id)
    // The agent itself has settled it or given it back meanwhile: that holds.
    if (row?.leases !== delivery.lease) continue
    // That the endpoint is gone is no failure of the delivery, not even on its last attempt: it waits for a poll.
    const next: Next =
      outcome.kind === 'gone'
        ? { state: 'ready' }
        : afterFailedPush(
            row,
            { error: outcome.error, retryAfterMs: outcome.kind === 'later' ? outcome.retryAfterMs : null },
            now,
            withPushSchedule(policy, schedule),
          )
    // One by one: nearly every delivery has an error or a time of its own.
    await writeNext(tx, activity, mailbox, [{ id: row.id, next }], outcome.error, now)
    if (outcome.kind !== 'gone') activity.countLater(tx, mailbox.tenantId, 'failures', 1)
    if (next.state === 'waiting') waiting.push([row.id, next.dueAt])
  }
  return waiting
}

const idsOf = (group: readonly Pushed[]): string[] => group.map(({ delivery }) => delivery.id)

/** Without their ends: a push is over when it is, also for an agent that has extended its lease. */
const leasesOf = (group: readonly Pushed[]): Lease[] => group.map(({ delivery: { id, lease } }) => ({ id, lease }))
