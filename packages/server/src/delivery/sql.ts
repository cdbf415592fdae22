// The rows of deliveries. A mailbox is (tenant_id, recipient_id), and every query but the sweeps names it.
//
// `deliveries` holds the open deliveries and the dead letters; acknowledged ones move to `acknowledged_deliveries`.
// standing.ts defines what a delivery is at a moment.
import type { Owner } from '../kernel/batches.ts'
import { one, statement, type Db, type Move } from '../store/db.ts'
import { shortText } from './long-payloads.ts'
import type { Attempted } from './rules.ts'
import { HAS_LAPSED, IS_LEASED, IS_OPEN, IS_READY, type DeliveryState } from './standing.ts'

export interface Mailbox {
  tenantId: string
  recipientId: string
}

/** How waiting requests take turns: by the tenant of the mailbox, and within it by recipient. */
export const ofMailbox = ({ mailbox }: { mailbox: Mailbox }): Owner => ({
  tenantId: mailbox.tenantId,
  senderId: mailbox.recipientId,
})

// Deliveries that are named are found by their ids. The recipient is then compared in the rows found, by an expression
// that no index matches: given the choice, PostgreSQL may scan the whole mailbox for the ids instead.
export const RECIPIENT_IS = "recipient_id || '' = ?"

/** Undoes the lease of this number on deliveries that nobody received. One settled or leased again is left alone. */
export const putBackRows = (db: Db, { tenantId, recipientId }: Mailbox, lease: number, ids: string[]) =>
  db.run(
    `update deliveries set state = 'ready', attempts = attempts - 1, due_at = null, wake_at = null,
            first_attempt_at = case when attempts > 1 then first_attempt_at end
      where tenant_id = ? and ${RECIPIENT_IS} and ${db.dialect.inList('id')} and state = 'leased' and leases = ?`,
    [tenantId, recipientId, db.dialect.list(ids), lease],
  )

/** Returns which of these events a recipient was sent, whatever became of the delivery. */
export async function eventsSentTo(
  db: Db,
  { tenantId, recipientId }: Mailbox,
  eventIds: string[],
): Promise<Set<string>> {
  const sent = (table: string): string =>
    `select event_id from ${table} where tenant_id = ? and recipient_id = ? and ${db.dialect.inList('event_id')}`
  const values = [tenantId, recipientId, db.dialect.list(eventIds)]
  const rows = await db.rows<{ event_id: string }>(
    `${sent('deliveries')} union all ${sent('acknowledged_deliveries')}`,
    [...values, ...values],
  )
  return new Set(rows.map((row) => row.event_id))
}

/**
 * The recipient, or null if it is a paused agent. Parameters: tenant, recipient, recipient. SQLite tests a condition
 * beside the others for each row, so that a poll of a paused agent read its whole mailbox. As the key that is looked
 * for, a null ends the search before it begins.
 */
const UNLESS_PAUSED =
  'case when exists (select 1 from agents where tenant_id = ? and id = ? and paused = 1) then null else cast(? as text) end'

/** In the order of delivery: highest priority, then oldest. Parameters: tenant, tenant, recipient, recipient, time. */
const NEXT = `tenant_id = ? and recipient_id = ${UNLESS_PAUSED} and ${IS_READY} order by priority desc, id`

const ONE_IS_DUE = `select 1 as due from deliveries where ${NEXT} limit 1`

/** Whether a poll would find something. Locks nothing. */
export const isSomethingDue = async (db: Db, { tenantId, recipientId }: Mailbox, now: number): Promise<boolean> =>
  (await db.lookUp(ONE_IS_DUE, [tenantId, tenantId, recipientId, recipientId, now])) !== undefined

const NEXT_DUE = `select min(case when due_at > ? then due_at end) as due from
  (select due_at from deliveries where tenant_id = ? and recipient_id = ${UNLESS_PAUSED} and dead_lettered_at is null
    order by priority desc, id limit 1000) as opened`

/**
 * Returns when the next lease or wait runs out in a mailbox in which nothing was due at `since`; null if none will, or
 * if the agent is paused. One that had run out by `since` and still was not due is ignored: a sweep has to handle it.
 * Reads the first thousand deliveries, which were leased before the others. If a later one is due sooner, a waiting poll
 * finds it when it looks again.
 */
export async function readNextDue(db: Db, { tenantId, recipientId }: Mailbox, since: number): Promise<number | null> {
  const row = await db.lookUp<{ due: number | null }>(NEXT_DUE, [since, tenantId, tenantId, recipientId, recipientId])
  return row?.due ?? null
}

export interface ClaimedRow {
  id: string
  event_id: string
  attempts: number
  leases: number
  priority: number
  enrichment: string
  enriched: string | null
  /** 1 if the delivery has an enrichment block, short or long. */
  is_enriched: number
  created_at: number
  /** 1 if the lease before this one ran out. */
  lapsed: number
  /** Null if the envelope is long. */
  envelope: string | null
}

const CLAIM = statement(
  ({ skipLocked, inRows }) =>
    `with next as (select id from deliveries where ${NEXT} limit ? ${skipLocked})
     update deliveries set state = 'leased', attempts = attempts + 1, leases = leases + 1, due_at = ?, first_attempt_at = coalesce(first_attempt_at, ?),
            lapsed = case when state = 'leased' then 1 else 0 end, wake_at = case when attempts + 1 >= ? then cast(? as bigint) end
      where tenant_id = ? and ${inRows('id', 'select id from next')}
      returning id, event_id, attempts, leases, priority, enrichment, ${shortText('enriched')} as enriched,
                case when enriched is null then 0 else 1 end as is_enriched, created_at, lapsed,
                (select ${shortText('e.envelope')} from events e where e.tenant_id = ? and e.id = deliveries.event_id) as envelope`,
)

/**
 * Leases what is due, highest priority first, then oldest. Rows that another poll is taking are skipped. Long envelopes
 * and blocks are left out (long-payloads.ts). When the last of `maxAttempts` leases runs out, the sweep buries the
 * delivery (lapse.ts).
 */
export const claimRows = (
  db: Db,
  { tenantId, recipientId }: Mailbox,
  limit: number,
  until: number,
  now: number,
  maxAttempts: number,
) =>
  db.rows<ClaimedRow>(CLAIM(db), [
    tenantId,
    tenantId,
    recipientId,
    recipientId,
    now,
    limit,
    until,
    now,
    maxAttempts,
    until,
    tenantId,
    tenantId,
  ])

/** Reads envelope and block of a claimed delivery. They may be long, so this does not use `lookUp`. Locks nothing. */
export const readPayload = (db: Db, { tenantId, recipientId }: Mailbox, id: string) =>
  one<{ envelope: string | null; enriched: string | null }>(
    db,
    `select e.envelope, d.enriched from deliveries d join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ? and d.id = ? and d.recipient_id || '' = ?`,
    [tenantId, id, recipientId],
  )

const ACKNOWLEDGED: Move = {
  from: 'deliveries',
  to: 'acknowledged_deliveries',
  columns: {
    acknowledged_at: 'cast(? as bigint)',
    created_at: 'created_at',
    attempts: 'attempts',
    tenant_id: 'tenant_id',
    event_id: 'event_id',
    recipient_id: 'recipient_id',
    id: 'id',
    matched: 'matched',
    first_attempt_at: 'first_attempt_at',
  },
}

const OPEN_OF_RECIPIENT = statement(
  ({ inList }) => `tenant_id = ? and ${RECIPIENT_IS} and ${inList('id')} and ${IS_OPEN}`,
)

/** Acknowledges the open deliveries and returns how many. An exhausted delivery is a dead letter, written or not. */
export const acknowledgeRows = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[], now: number) =>
  db.move(ACKNOWLEDGED, [now], OPEN_OF_RECIPIENT(db), [tenantId, recipientId, db.dialect.list(ids), now])

export interface TimedRow extends Attempted {
  tenant_id: string
  recipient_id: string
  id: string
  state: DeliveryState
  leases: number
}

const TIMED = 'tenant_id, recipient_id, id, state, attempts, leases, first_attempt_at, last_error'

/**
 * Returns the deliveries of a tenant that have lapsed, locked until the transaction ends. Rows that another transaction
 * holds are waited for, or skipped with `passOver`.
 */
export const lapsedOfTenant = (db: Db, tenantId: string, now: number, limit: number, passOver = false) =>
  db.rows<TimedRow>(
    `select ${TIMED} from deliveries where tenant_id = ? and ${HAS_LAPSED} order by wake_at, id limit ?
      ${passOver ? db.dialect.skipLocked : db.dialect.forUpdate}`,
    [tenantId, now, limit],
  )

/** The same for one delivery. */
export const lapsedRow = (db: Db, tenantId: string, id: string, now: number) =>
  db.rows<TimedRow>(
    `select ${TIMED} from deliveries where tenant_id = ? and id = ? and ${HAS_LAPSED} ${db.dialect.forUpdate}`,
    [tenantId, id, now],
  )

export const hasLapsed = async (db: Db, tenantId: string, now: number): Promise<boolean> =>
  (await db.lookUp(`select 1 as lapsed from deliveries where tenant_id = ? and ${HAS_LAPSED} limit 1`, [
    tenantId,
    now,
  ])) !== undefined

/**
 * Returns the tenants of the deliveries that lapsed longest ago, over all tenants. Locks nothing: where tenants are
 * spread over shards, a transaction can lock rows of one shard only.
 */
export const tenantsWithLapsed = async (db: Db, now: number, limit: number): Promise<string[]> => {
  const rows = await db.rows<{ tenant_id: string }>(
    `select tenant_id from deliveries where ${HAS_LAPSED} order by wake_at limit ?`,
    [now, limit],
  )
  return [...new Set(rows.map((row) => row.tenant_id))]
}

/** Returns those of the given deliveries whose leases still run, locked until the transaction ends. */
export const leasedRows = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[], now: number) =>
  db.rows<TimedRow>(
    `select ${TIMED} from deliveries where tenant_id = ? and ${RECIPIENT_IS} and ${db.dialect.inList('id')} and ${IS_LEASED}
      order by id ${db.dialect.forUpdate}`,
    [tenantId, recipientId, db.dialect.list(ids), now],
  )

export const setReady = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[], lastError: string | null) =>
  db.run(
    `update deliveries set state = 'ready', due_at = null, wake_at = null, last_error = coalesce(?, last_error)
      where tenant_id = ? and ${RECIPIENT_IS} and ${db.dialect.inList('id')}`,
    [lastError, tenantId, recipientId, db.dialect.list(ids)],
  )

export const setWaiting = (
  db: Db,
  { tenantId, recipientId }: Mailbox,
  ids: string[],
  dueAt: number,
  lastError: string | null,
) =>
  db.run(
    `update deliveries set state = 'waiting', due_at = ?, wake_at = ?, last_error = coalesce(?, last_error)
      where tenant_id = ? and ${RECIPIENT_IS} and ${db.dialect.inList('id')}`,
    [dueAt, dueAt, lastError, tenantId, recipientId, db.dialect.list(ids)],
  )

export const setDead = (db: Db, { tenantId, recipientId }: Mailbox, id: string, reason: string, now: number) =>
  db.run(
    `update deliveries set state = 'dead_lettered', due_at = null, wake_at = null, dead_lettered_at = ?, dlq_reason = ?
      where tenant_id = ? and ${RECIPIENT_IS} and id = ?`,
    [now, reason, tenantId, recipientId, id],
  )

/** Sets a new end for leases that still run. */
export const extendRows = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[], until: number, now: number) =>
  db.run(
    `update deliveries set due_at = ?, wake_at = case when wake_at is not null then cast(? as bigint) end
      where tenant_id = ? and ${RECIPIENT_IS} and ${db.dialect.inList('id')} and ${IS_LEASED}`,
    [until, until, tenantId, recipientId, db.dialect.list(ids), now],
  )

/**
 * Moves the end of every lease and wait that ends after `now`, of all tenants. It reads every open delivery, which is
 * acceptable because a clock seldom steps.
 */
export const moveEnds = (db: Db, ms: number, now: number) =>
  db.run('update deliveries set due_at = due_at + ?, wake_at = wake_at + ? where due_at > ?', [ms, ms, now])

export const notePoll = (db: Db, { tenantId, recipientId }: Mailbox, now: number) =>
  db.runLater(
    `insert into mailboxes (tenant_id, recipient_id, last_poll_at) values (?, ?, ?)
     on conflict (tenant_id, recipient_id) do update set last_poll_at = excluded.last_poll_at`,
    [tenantId, recipientId, now],
  )
