// The rows of deliveries. A mailbox is (tenant_id, recipient_id), and every query but the sweeps names it.
import type { Db, Insert, Value } from '../store/db.ts'
import type { Attempted, DeliveryState } from './rules.ts'

export interface Mailbox {
  tenantId: string
  recipientId: string
}

// Deliveries that are named are found by their ids. Whose they are is asked of the rows found, in words that no index knows:
// given the choice PostgreSQL may take the whole mailbox instead and look for the ids in it.
export const MINE = "recipient_id || '' = ?"

export interface NewDeliveryRow {
  tenant_id: string
  recipient_id: string
  id: string
  event_id: string
  priority: number
  enrichment: string
  matched: string
  created_at: number
}

const NEW_DELIVERIES: Insert = {
  into: 'deliveries',
  columns: {
    tenant_id: 'text', recipient_id: 'text', id: 'text', event_id: 'text', state: 'text', priority: 'bigint', enrichment: 'text',
    matched: 'text', attempts: 'integer', created_at: 'bigint',
  },
}

const MISSING_DELIVERIES: Insert = { ...NEW_DELIVERIES, conflict: 'on conflict (tenant_id, event_id, recipient_id) do nothing', returning: 'recipient_id' }

const valuesOf = (r: NewDeliveryRow): Value[] => [
  r.tenant_id, r.recipient_id, r.id, r.event_id, 'ready', r.priority, r.enrichment, r.matched, 0, r.created_at,
]

/** Puts the deliveries of new events into mailboxes, ready. */
export const insertDeliveries = (db: Db, rows: readonly NewDeliveryRow[]) => db.insertLater(NEW_DELIVERIES, rows.map(valuesOf))

/** Puts deliveries into mailboxes where they are missing, and answers how many that were. */
export const insertMissingDeliveries = async (db: Db, rows: readonly NewDeliveryRow[]): Promise<number> =>
  (await db.insertMany(MISSING_DELIVERIES, rows.map(valuesOf))).length

/** What a poll would find: something ready now, a lease or a wait that has run out. Locks nothing. */
export async function whatIsDue(db: Db, { tenantId, recipientId }: Mailbox, now: number): Promise<{ ready: boolean; lapsed: boolean }> {
  const found = await db.lookUp<{ ready: number; lapsed: number }>(
    `select case when exists (select 1 from deliveries where tenant_id = ? and recipient_id = ? and state = 'ready') then 1 else 0 end as ready,
            case when exists (select 1 from deliveries where tenant_id = ? and recipient_id = ? and due_at is not null and due_at <= ?) then 1 else 0 end as lapsed`,
    [tenantId, recipientId, tenantId, recipientId, now],
  )
  return { ready: found?.ready === 1, lapsed: found?.lapsed === 1 }
}

export interface ClaimedRow {
  id: string
  event_id: string
  attempts: number
  priority: number
  enrichment: string
  enriched: string | null
  created_at: number
}

/** Leases what is ready, highest priority first, then oldest. Rows that another poll is taking are passed over. */
export const claimRows = (db: Db, { tenantId, recipientId }: Mailbox, limit: number, until: number, now: number) =>
  db.rows<ClaimedRow>(
    `with next as (select id from deliveries where tenant_id = ? and recipient_id = ? and state = 'ready'
                    order by priority desc, id limit ? ${db.dialect.skipLocked})
     update deliveries set state = 'leased', attempts = attempts + 1, due_at = ?, first_attempt_at = coalesce(first_attempt_at, ?)
      where tenant_id = ? and ${db.dialect.inRows('id', 'select id from next')}
      returning id, event_id, attempts, priority, enrichment, enriched, created_at`,
    [tenantId, recipientId, limit, until, now, tenantId],
  )

export const readEnvelopes = (db: Db, tenantId: string, eventIds: string[]) =>
  db.rows<{ id: string; envelope: string }>(
    `select id, envelope from events where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(eventIds)],
  )

/** Acknowledges what is not settled yet and answers the ids that this call settled. */
export const acknowledgeRows = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[], now: number) =>
  db.run(
    `update deliveries set state = 'acknowledged', acknowledged_at = ?, due_at = null
      where tenant_id = ? and ${MINE} and ${db.dialect.inList('id')} and state in ('ready', 'leased', 'waiting')`,
    [now, tenantId, recipientId, db.dialect.list(ids)],
  )

export interface TimedRow extends Attempted {
  tenant_id: string
  recipient_id: string
  id: string
  state: DeliveryState
}

const TIMED = 'tenant_id, recipient_id, id, state, attempts, first_attempt_at, last_error'

/** What has run out in one mailbox: held until the transaction ends. */
export const lapsedRows = (db: Db, { tenantId, recipientId }: Mailbox, now: number, limit: number) =>
  db.rows<TimedRow>(
    `select ${TIMED} from deliveries where tenant_id = ? and recipient_id = ? and due_at is not null and due_at <= ?
      order by due_at limit ? ${db.dialect.forUpdate}`,
    [tenantId, recipientId, now, limit],
  )

/** What has run out anywhere, oldest first; rows that somebody else is working on are passed over. */
export const lapsedAnywhere = (db: Db, now: number, limit: number) =>
  db.rows<TimedRow>(
    `select ${TIMED} from deliveries where due_at is not null and due_at <= ? order by due_at limit ? ${db.dialect.skipLocked}`,
    [now, limit],
  )

/** Leased deliveries among these ids: held until the transaction ends. */
export const leasedRows = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[]) =>
  db.rows<TimedRow>(
    `select ${TIMED} from deliveries where tenant_id = ? and ${MINE} and ${db.dialect.inList('id')} and state = 'leased'
      order by id ${db.dialect.forUpdate}`,
    [tenantId, recipientId, db.dialect.list(ids)],
  )

export const setReady = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[], lastError: string | null) =>
  db.run(
    `update deliveries set state = 'ready', due_at = null, last_error = coalesce(?, last_error)
      where tenant_id = ? and ${MINE} and ${db.dialect.inList('id')}`,
    [lastError, tenantId, recipientId, db.dialect.list(ids)],
  )

export const setWaiting = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[], dueAt: number, lastError: string | null) =>
  db.run(
    `update deliveries set state = 'waiting', due_at = ?, last_error = coalesce(?, last_error)
      where tenant_id = ? and ${MINE} and ${db.dialect.inList('id')}`,
    [dueAt, lastError, tenantId, recipientId, db.dialect.list(ids)],
  )

export const setDead = (db: Db, { tenantId, recipientId }: Mailbox, id: string, reason: string, now: number) =>
  db.run(
    `update deliveries set state = 'dead_lettered', due_at = null, dead_lettered_at = ?, dlq_reason = ?
      where tenant_id = ? and ${MINE} and id = ?`,
    [now, reason, tenantId, recipientId, id],
  )

/** Lengthens leases that still hold. */
export const extendRows = (db: Db, { tenantId, recipientId }: Mailbox, ids: string[], until: number) =>
  db.run(
    `update deliveries set due_at = ? where tenant_id = ? and ${MINE} and ${db.dialect.inList('id')} and state = 'leased'`,
    [until, tenantId, recipientId, db.dialect.list(ids)],
  )

/** When the next lease or wait of a mailbox runs out. */
export const nextDue = async (db: Db, { tenantId, recipientId }: Mailbox): Promise<number | null> =>
  (await db.lookUp<{ due: number | null }>(
    'select min(due_at) as due from deliveries where tenant_id = ? and recipient_id = ? and due_at is not null',
    [tenantId, recipientId],
  ))?.due ?? null

export const notePoll = (db: Db, { tenantId, recipientId }: Mailbox, now: number) =>
  db.runLater(
    `insert into mailboxes (tenant_id, recipient_id, last_poll_at) values (?, ?, ?)
     on conflict (tenant_id, recipient_id) do update set last_poll_at = excluded.last_poll_at`,
    [tenantId, recipientId, now],
  )
