// The rows of deliveries. A mailbox is (tenant_id, recipient_id), and every query but the sweeps names it.
//
// `deliveries` holds the open deliveries and the dead letters; acknowledged ones move to `acknowledged_deliveries`.
// standing.ts defines what a delivery is at a moment.
import { isId } from '@sensorium/contract'
import type { Owner } from '../kernel/batches.ts'
import { one, statement, type Db, type Move, type Store } from '../store/db.ts'
import { shortText } from './long-payloads.ts'
import type { Attempted } from './rules.ts'
import { HAS_LAPSED, HAS_LEASE, IS_LEASED, IS_OPEN, type DeliveryState } from './standing.ts'

export interface Mailbox {
  tenantId: string
  recipientId: string
}

/** How waiting requests take turns: by the tenant of the mailbox, and within it by recipient. */
export const ofMailbox = ({ mailbox }: { mailbox: Mailbox }): Owner => ({
  tenantId: mailbox.tenantId,
  senderId: mailbox.recipientId,
})

/** One order on all nodes, so that two transactions with the same mailboxes cannot deadlock. */
export const byMailbox = (a: { mailbox: Mailbox }, b: { mailbox: Mailbox }): number =>
  a.mailbox.recipientId < b.mailbox.recipientId ? -1 : 1

/** An id counts once, however often it is named. A text that is not a delivery id is dropped. */
export const deliveryIds = (named: readonly string[]): string[] =>
  [...new Set(named)].filter((id) => isId('delivery', id))

// Deliveries that are named are found by their ids. The recipient is then compared in the rows found, by an expression
// that no index matches: given the choice, PostgreSQL may scan the whole mailbox for the ids instead.
export const RECIPIENT_IS = "recipient_id || '' = ?"

/** Undoes the lease of this number on deliveries that nobody received. One settled or leased again is left alone. */
export const putBackRows = (db: Db, { tenantId, recipientId }: Mailbox, lease: number, ids: string[]) =>
  db.run(
    `update deliveries set state = 'ready', attempts = attempts - 1, due_at = null, wake_at = null,
            first_attempt_at = case when attempts > 1 then first_attempt_at end
      where tenant_id = ? and ${RECIPIENT_IS} and ${db.dialect.inList('id')} and ${HAS_LEASE}`,
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

/** Reads envelope and block of a claimed delivery. They may be long, so this does not use `lookUp`. Locks nothing. */
export const readPayload = (db: Db, { tenantId, recipientId }: Mailbox, id: string) =>
  one<{ envelope: string | null; enriched: string | null }>(
    db,
    `select e.envelope, d.enriched from deliveries d join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ? and d.id = ? and d.${RECIPIENT_IS}`,
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
  due_at: number | null
}

const TIMED = 'tenant_id, recipient_id, id, state, attempts, leases, due_at, first_attempt_at, last_error'

/**
 * Returns the deliveries of a tenant that have lapsed, locked until the transaction ends. Rows that another transaction
 * holds are waited for, or skipped with `passOver`.
 */
export const lapsedOfTenant = (db: Db, tenantId: string, now: number, limit: number, passOver: boolean) =>
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

/** Whether `lapsedOfTenant` would find something. Locks nothing. */
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

/** Makes deliveries due at once and keeps their last error unless another is given. The caller holds their rows. */
export const setReady = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[], lastError: string | null) =>
  db.run(
    `update deliveries set state = 'ready', due_at = null, wake_at = null, last_error = coalesce(?, last_error)
      where tenant_id = ? and ${RECIPIENT_IS} and ${db.dialect.inList('id')}`,
    [lastError, tenantId, recipientId, db.dialect.list(ids)],
  )

/** The same, due at `dueAt`, when a sweep wakes the mailbox. */
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

/** Buries deliveries with their reason. The caller holds their rows. */
export const setDead = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[], reason: string, now: number) =>
  db.run(
    `update deliveries set state = 'dead_lettered', due_at = null, wake_at = null, dead_lettered_at = ?, dlq_reason = ?
      where tenant_id = ? and ${RECIPIENT_IS} and ${db.dialect.inList('id')}`,
    [now, reason, tenantId, recipientId, db.dialect.list(ids)],
  )

/** Sets a new end for leases that still run, and returns how many do. Locks their rows. */
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

/** Notes the time of a poll, at the end of its transaction. Locks the row of the mailbox. */
export const notePoll = (db: Db, { tenantId, recipientId }: Mailbox, now: number) =>
  db.runLater(
    `insert into mailboxes (tenant_id, recipient_id, last_poll_at) values (?, ?, ?)
     on conflict (tenant_id, recipient_id) do update set last_poll_at = excluded.last_poll_at`,
    [tenantId, recipientId, now],
  )

/** Returns when a node last wrote down a poll of the mailbox. Locks nothing. */
export const readLastPoll = (db: Db, { tenantId, recipientId }: Mailbox) =>
  one<{ last_poll_at: number }>(db, 'select last_poll_at from mailboxes where tenant_id = ? and recipient_id = ?', [
    tenantId,
    recipientId,
  ])

/** The poll does not wait for its note. A note that fails is written with the next poll that finds something. */
export const notePollAlone = (store: Store, mailbox: Mailbox, now: number): void =>
  void store.tx(async (tx) => notePoll(tx, mailbox, now), { mayBeLost: true }).catch(() => {})

export interface RecentRow {
  id: string
  event_id: string
  acknowledged_at: number
  /** Null if it is long, and has to be read alone. */
  envelope: string | null
}

/** Returns the latest acknowledgements with their envelopes, last acknowledged first. Locks nothing. */
export const readRecent = (db: Db, { tenantId, recipientId }: Mailbox, shortBytes: number, limit: number) =>
  db.rows<RecentRow>(
    `select d.id, d.event_id, d.acknowledged_at, ${shortText('e.envelope')} as envelope
       from acknowledged_deliveries d join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ? and d.recipient_id = ? order by d.acknowledged_at desc, d.id desc limit ?`,
    [shortBytes, tenantId, recipientId, limit],
  )
