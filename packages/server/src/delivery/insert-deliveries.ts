// Puts new deliveries into mailboxes.
import { nextTurn } from '../kernel/step-turns.ts'
import type { Db, Insert, Value } from '../store/db.ts'

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

const NEW_COLUMNS = {
  tenant_id: 'text',
  recipient_id: 'text',
  id: 'text',
  event_id: 'text',
  priority: 'bigint',
  enrichment: 'text',
  matched: 'text',
  created_at: 'bigint',
} as const

const NEW_DELIVERIES: Insert = { into: 'deliveries', columns: NEW_COLUMNS }

const LEASED_DELIVERIES: Insert = {
  into: 'deliveries',
  columns: {
    ...NEW_COLUMNS,
    state: 'text',
    attempts: 'bigint',
    leases: 'bigint',
    first_attempt_at: 'bigint',
    due_at: 'bigint',
    wake_at: 'bigint',
  },
}

/** A delivery that is leased from the beginning, with the text of its event. */
export interface LeasedDeliveryRow extends NewDeliveryRow {
  due_at: number
  wake_at: number | null
  envelope: string
}

const valuesOf = (r: NewDeliveryRow): Value[] => [
  r.tenant_id,
  r.recipient_id,
  r.id,
  r.event_id,
  r.priority,
  r.enrichment,
  r.matched,
  r.created_at,
]

/**
 * The most rows that are made or inserted in one turn of the event loop, which is as much as a whole group of publishes
 * has. On SQLite 8,000 took 100 ms of the main thread.
 */
export const ROWS_AT_ONCE = 2_000

/** With many rows, others have their turn in between. The transaction stays open, and no other begins meanwhile. */
async function insertInTurns<Row>(db: Db, insert: Insert, rows: readonly Row[], values: (row: Row) => Value[]) {
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    if (at > 0) await nextTurn()
    db.insertLater(insert, rows.slice(at, at + ROWS_AT_ONCE).map(values))
  }
}

/** Puts the deliveries of new events into mailboxes, ready. */
export const insertDeliveries = (db: Db, rows: readonly NewDeliveryRow[]): Promise<void> =>
  insertInTurns(db, NEW_DELIVERIES, rows, valuesOf)

/** Puts deliveries into mailboxes whose owner gets them at once: leased, for the first time. */
export const insertLeasedDeliveries = (db: Db, rows: readonly LeasedDeliveryRow[]): Promise<void> =>
  insertInTurns(db, LEASED_DELIVERIES, rows, (row) => [
    ...valuesOf(row),
    'leased',
    1,
    1,
    row.created_at,
    row.due_at,
    row.wake_at,
  ])
