// The rows of events. Every query names the tenant, but for the last, which goes by age.
import { one, type Db, type Insert } from '../store/db.ts'

export interface NewEventRow {
  tenant_id: string
  id: string
  type: string
  source: string
  subject: string | null
  sender_id: string
  envelope: string
  ancestors: number
  received_at: number
}

const EVENTS: Insert = {
  into: 'events',
  columns: {
    tenant_id: 'text', id: 'text', type: 'text', source: 'text', subject: 'text', sender_id: 'text', envelope: 'text', ancestors: 'integer', received_at: 'bigint',
  },
  conflict: 'on conflict (tenant_id, id) do nothing',
  returning: 'tenant_id, id',
}

/** Inserts the events whose id is new and answers those; on PostgreSQL it waits for a competing insert of the same id. */
export const insertEvents = (db: Db, rows: readonly NewEventRow[]) =>
  db.insertMany<{ tenant_id: string; id: string }>(
    EVENTS,
    rows.map((r) => [r.tenant_id, r.id, r.type, r.source, r.subject, r.sender_id, r.envelope, r.ancestors, r.received_at]),
  )

/** How many ancestors these events have. */
export const readAncestors = (db: Db, tenantIds: string[], ids: string[]) =>
  db.rows<{ tenant_id: string; id: string; ancestors: number }>(
    `select tenant_id, id, ancestors from events where ${db.dialect.inList('tenant_id')} and ${db.dialect.inList('id')}`,
    [db.dialect.list(tenantIds), db.dialect.list(ids)],
  )

export const findEvent = (db: Db, tenantId: string, id: string) =>
  one<{ sender_id: string; envelope: string | null }>(db, 'select sender_id, envelope from events where tenant_id = ? and id = ?', [tenantId, id])

export interface StoredEvent {
  id: string
  envelope: string
  received_at: number
}

/** A page of retained events, newest first, before a place in that order. */
export const pageNewestEvents = (db: Db, tenantId: string, before: { receivedAt: number; id: string }, limit: number) =>
  db.rows<StoredEvent>(
    `select id, envelope, received_at from events
      where tenant_id = ? and purged_at is null and (received_at, id) < (?, ?) order by received_at desc, id desc limit ?`,
    [tenantId, before.receivedAt, before.id, limit],
  )

/** A page of a tenant's events past retention, oldest first, after a place in that order. */
export const pageOldEvents = (db: Db, tenantId: string, after: { receivedAt: number; id: string }, before: number, limit: number) =>
  db.rows<{ id: string; received_at: number }>(
    `select id, received_at from events
      where tenant_id = ? and purged_at is null and (received_at, id) > (?, ?) and received_at < ? order by received_at, id limit ?`,
    [tenantId, after.receivedAt, after.id, before, limit],
  )

/** Deletes the acknowledged deliveries of these events that are past retention. */
export const deleteAcknowledged = (db: Db, tenantId: string, eventIds: string[], before: number) =>
  db.run(
    `delete from deliveries where tenant_id = ? and ${db.dialect.inList('event_id')} and state = 'acknowledged' and acknowledged_at < ?`,
    [tenantId, db.dialect.list(eventIds), before],
  )

/** Empties those of these events that no delivery needs any more; their ids stay known. */
export const emptyEvents = (db: Db, tenantId: string, ids: string[], now: number) =>
  db.run(
    `update events set envelope = null, purged_at = ? where tenant_id = ? and ${db.dialect.inList('id')} and purged_at is null
        and not exists (select 1 from deliveries d where d.tenant_id = events.tenant_id and d.event_id = events.id)`,
    [now, tenantId, db.dialect.list(ids)],
  )

/** Forgets emptied events, a few at a time. */
export const forgetEvents = (db: Db, before: number, limit: number) =>
  db.run(
    `delete from events where (tenant_id, id) in
       (select tenant_id, id from events where purged_at is not null and purged_at < ? order by purged_at limit ?)`,
    [before, limit],
  )
