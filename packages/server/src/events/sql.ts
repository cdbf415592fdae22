// The rows of events. Every query names the tenant.
import { shortText } from '../delivery/long-payloads.ts'
import { SHORT_LENGTH } from '../kernel/lengths.ts'
import { one, type Db, type Insert, type Reads } from '../store/db.ts'

export interface NewEventRow {
  tenant_id: string
  id: string
  type: string
  source: string
  subject: string | null
  sender_id: string
  envelope: string
  causation_id: string | null
  received_at: number
  /** The position among events of the same millisecond. */
  place: number
}

const EVENTS: Insert = {
  into: 'events',
  columns: {
    tenant_id: 'text',
    id: 'text',
    type: 'text',
    source: 'text',
    subject: 'text',
    sender_id: 'text',
    envelope: 'text',
    causation_id: 'text',
    received_at: 'bigint',
    place: 'integer',
  },
  conflict: 'on conflict (tenant_id, id) do nothing',
  returning: 'tenant_id, id',
}

/**
 * Inserts the events whose id is new and returns them. On PostgreSQL it waits for a competing insert of the same id.
 */
export const insertEvents = (db: Db, rows: readonly NewEventRow[]) =>
  db.insertMany<{ tenant_id: string; id: string }>(
    EVENTS,
    rows.map((r) => [
      r.tenant_id,
      r.id,
      r.type,
      r.source,
      r.subject,
      r.sender_id,
      r.envelope,
      r.causation_id,
      r.received_at,
      r.place,
    ]),
  )

/**
 * Reads these events of a tenant and their stored ancestors, up to `most` above each: of every event the cause that it
 * names. An ancestor of several is returned once for each distance that it is found at. Locks nothing.
 */
export const readChains = (db: Reads, tenantId: string, ids: string[], most: number) =>
  db.rows<{ id: string; cause: string | null }>(
    `with recursive chain (id, cause, distance) as (
       select id, causation_id, 0 from events where tenant_id = ? and ${db.dialect.inList('id')}
       union
       select e.id, e.causation_id, c.distance + 1 from chain c join events e on e.tenant_id = ? and e.id = c.cause
        where c.distance < ?)
     select id, cause from chain`,
    [tenantId, db.dialect.list(ids), tenantId, most],
  )

/** Returns an event with the size of its envelope, and the envelope if that is short. Locks nothing. */
export const findEvent = (db: Db, tenantId: string, id: string) =>
  one<{ sender_id: string; envelope: string | null; bytes: number | null }>(
    db,
    `select sender_id, octet_length(envelope) as bytes, ${shortText('envelope')} as envelope
       from events where tenant_id = ? and id = ?`,
    [SHORT_LENGTH, tenantId, id],
  )

/** Returns which of these ids a tenant's events have, emptied ones included. Locks nothing. */
export async function storedAmong(db: Reads, tenantId: string, ids: string[]): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>(
    `select id from events where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(ids)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** How far a walk through events has come, in the order in which they were received. */
export interface EventCursor {
  received_at: number
  place: number
  id: string
}

export interface ListedEvent extends EventCursor {
  type: string
  /** The size of the envelope. */
  bytes: number
}

/** A page of retained events without their envelopes, newest first, before a place in that order. */
export const pageNewestEvents = (db: Db, tenantId: string, before: EventCursor, limit: number) =>
  db.rows<ListedEvent>(
    `select id, type, octet_length(envelope) as bytes, received_at, place from events
      where tenant_id = ? and purged_at is null and (received_at, place, id) < (?, ?, ?) order by received_at desc, place desc, id desc limit ?`,
    [tenantId, before.received_at, before.place, before.id, limit],
  )

/** Reads the envelopes of these events; null if retention has emptied one. */
export const readEnvelopes = (db: Db, tenantId: string, ids: string[]) =>
  db.rows<{ id: string; envelope: string | null }>(
    `select id, envelope from events where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(ids)],
  )

/** The same, as the driver has them: to be parsed, a text would be made bytes again. */
export const readSentEnvelopes = (db: Db, tenantId: string, ids: string[]) =>
  db.rows<{ id: string; envelope: string | Uint8Array | null }>(
    `select id, ${db.dialect.sentText('envelope', 'envelope')} from events where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(ids)],
  )

/** Reads the event of a delivery that is not acknowledged; empty if there is no such delivery. Locks nothing. */
export const eventOfDelivery = (db: Db, tenantId: string, deliveryId: string) =>
  db.rows<{ id: string; envelope: string | null }>(
    `select e.id, e.envelope from deliveries d join events e on e.tenant_id = d.tenant_id and e.id = d.event_id
      where d.tenant_id = ? and d.id = ?`,
    [tenantId, deliveryId],
  )

/** A page of a tenant's events past retention, oldest first, after a place in that order. */
export const pageOldEvents = (db: Db, tenantId: string, after: EventCursor, before: number, limit: number) =>
  db.rows<EventCursor>(
    `select id, received_at, place from events
      where tenant_id = ? and purged_at is null and (received_at, place, id) > (?, ?, ?) and received_at < ? order by received_at, place, id limit ?`,
    [tenantId, after.received_at, after.place, after.id, before, limit],
  )

/** Deletes the acknowledged deliveries of these events that are past retention. */
export const deleteAcknowledged = (db: Db, tenantId: string, eventIds: string[], before: number) =>
  db.run(
    `delete from acknowledged_deliveries where tenant_id = ? and ${db.dialect.inList('event_id')} and acknowledged_at < ?`,
    [tenantId, db.dialect.list(eventIds), before],
  )

/** True if no delivery needs the event any more. */
const UNNEEDED = `not exists (select 1 from deliveries d where d.tenant_id = events.tenant_id and d.event_id = events.id)
        and not exists (select 1 from acknowledged_deliveries d where d.tenant_id = events.tenant_id and d.event_id = events.id)`

/**
 * Empties those of these events that no delivery needs any more; their ids stay known. Returns how many, and how many
 * bytes they had. Locks the events in the order of their ids, so that a transaction that delivers one again
 * (`holdRetained`) comes before or after all of this.
 */
export async function emptyEvents(
  db: Db,
  tenantId: string,
  ids: string[],
  now: number,
): Promise<{ emptied: number; bytes: number }> {
  const { inList, list, forUpdate } = db.dialect
  const held = await db.rows<{ id: string }>(
    `select id from events where tenant_id = ? and ${inList('id')} and purged_at is null and ${UNNEEDED} order by id ${forUpdate}`,
    [tenantId, list(ids)],
  )
  if (held.length === 0) return { emptied: 0, bytes: 0 }
  // A statement of its own, so that it sees what was delivered until the events were locked.
  const unneeded = await db.rows<{ id: string; bytes: number }>(
    `select id, octet_length(envelope) as bytes from events where tenant_id = ? and ${inList('id')} and ${UNNEEDED}`,
    [tenantId, list(held.map(({ id }) => id))],
  )
  const emptied = await db.run(
    `update events set envelope = null, purged_at = ? where tenant_id = ? and ${inList('id')}`,
    [now, tenantId, list(unneeded.map(({ id }) => id))],
  )
  return { emptied, bytes: unneeded.reduce((sum, { bytes }) => sum + bytes, 0) }
}

/**
 * Returns which of these ids belong to retained events. They stay retained until the transaction ends: the rows are
 * locked in the order of their ids, with a lock that many transactions share.
 */
export async function holdRetained(db: Db, tenantId: string, ids: string[]): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>(
    `select id from events where tenant_id = ? and ${db.dialect.inList('id')} and purged_at is null order by id ${db.dialect.forShare}`,
    [tenantId, db.dialect.list(ids)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Deletes emptied events of a tenant, a few at a time. */
export const forgetEvents = (db: Db, tenantId: string, before: number, limit: number) =>
  db.run(
    `delete from events where tenant_id = ? and id in
       (select id from events where tenant_id = ? and purged_at is not null and purged_at < ? order by purged_at limit ?)`,
    [tenantId, tenantId, before, limit],
  )

/**
 * Counts the deliveries of each of these events, acknowledged or not, up to `most` of either kind. Uses the indexes by
 * event.
 */
export const countDeliveries = (db: Db, tenantId: string, ids: string[], most: number) => {
  const { inList, byIndex } = db.dialect
  const counted = (table: string): string =>
    `select event_id, count(*) as n from (select event_id from ${table} where tenant_id = ? and ${inList('event_id')} limit ?) as counted group by event_id`
  const values = [tenantId, db.dialect.list(ids), most]
  return db.rows<{ event_id: string; n: number }>(
    `${counted(`deliveries ${byIndex('deliveries_by_event')}`)} union all ${counted('acknowledged_deliveries')}`,
    [...values, ...values],
  )
}

export interface FoundEvent extends ListedEvent {
  source: string
  subject: string | null
  sender_id: string
  causation_id: string | null
}

const FOUND = 'id, type, source, subject, sender_id, causation_id, octet_length(envelope) as bytes, received_at, place'

/**
 * A page of retained events without their envelopes, newest first, before a place in that order and not before a time.
 */
export const pageEvents = (db: Db, tenantId: string, before: EventCursor, since: number, limit: number) =>
  db.rows<FoundEvent>(
    `select ${FOUND} from events
      where tenant_id = ? and purged_at is null and (received_at, place, id) < (?, ?, ?) and received_at >= ?
      order by received_at desc, place desc, id desc limit ?`,
    [tenantId, before.received_at, before.place, before.id, since, limit],
  )

/** The retained event with that id, if there is one. */
export const findListed = (db: Db, tenantId: string, id: string) =>
  db.rows<FoundEvent>(`select ${FOUND} from events where tenant_id = ? and id = ? and purged_at is null`, [
    tenantId,
    id,
  ])
