// The rows of event types: one for each tenant, type and day.
import { DAY_MS } from '../kernel/clock.ts'
import { one, type Db, type Insert } from '../store/db.ts'

export const dayNumber = (ms: number): number => Math.floor(ms / DAY_MS)

export interface TypeCount {
  count: number
  lastAt: number
}

const ADDED: Insert = {
  into: 'event_types',
  columns: { tenant_id: 'text', type: 'text', day: 'bigint', count: 'bigint', last_at: 'bigint' },
  conflict: `on conflict (tenant_id, type, day) do update set count = event_types.count + excluded.count,
    last_at = case when excluded.last_at > event_types.last_at then excluded.last_at else event_types.last_at end`,
}

/**
 * Adds to the day on which each type came last. The rows have the same order on all nodes, so that two transactions
 * cannot deadlock.
 */
export const addTypes = (db: Db, counted: ReadonlyMap<string, ReadonlyMap<string, TypeCount>>): void => {
  const rows = [...counted].flatMap(([tenantId, types]) =>
    [...types].map(([type, { count, lastAt }]) => [tenantId, type, dayNumber(lastAt), count, lastAt] as const),
  )
  rows.sort((a, b) => (a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? -1 : 1))
  db.insertLater(ADDED, rows)
}

export interface TypeRow {
  type: string
  count: number
  last_at: number
}

/** Returns a page of the types that a tenant has had since a day, the latest first, and how many there are. */
export async function readTypes(
  db: Db,
  tenantId: string,
  since: number,
  offset: number,
  limit: number,
): Promise<{ rows: TypeRow[]; total: number }> {
  const where = 'tenant_id = ? and day >= ?'
  const rows = await db.rows<TypeRow>(
    // Cast because PostgreSQL sums bigint into numeric, which would arrive as a text.
    `select type, cast(sum(count) as bigint) as count, max(last_at) as last_at from event_types where ${where}
      group by type order by max(last_at) desc, type limit ? offset ?`,
    [tenantId, since, limit, offset],
  )
  const all = await one<{ n: number }>(db, `select count(distinct type) as n from event_types where ${where}`, [
    tenantId,
    since,
  ])
  return { rows, total: all?.n ?? 0 }
}

/** What a step of days has of a type. */
export interface TypePart {
  type: string
  count: number
  /** Null if all of these days are too old. */
  last_at: number | null
  /** The last of these days, and how many they are. */
  day: number
  days: number
}

/** Adds up the next `most` days of types that follow a place, by type. */
export const addUpTypes = (
  db: Db,
  tenantId: string,
  since: number,
  after: Pick<TypePart, 'type' | 'day'>,
  most: number,
): Promise<TypePart[]> =>
  db.rows(
    `select type, cast(sum(case when day >= ? then count else 0 end) as bigint) as count,
            max(case when day >= ? then last_at end) as last_at, max(day) as day, count(*) as days
       from (select type, day, count, last_at from event_types
              where tenant_id = ? and (type, day) > (?, ?) order by type, day limit ?) as page
      group by type order by type`,
    [since, since, tenantId, after.type, after.day, most],
  )

/** Deletes the days before `before`, and returns how many rows. */
export const forgetTypes = (db: Db, tenantId: string, before: number) =>
  db.run('delete from event_types where tenant_id = ? and day < ?', [tenantId, before])
