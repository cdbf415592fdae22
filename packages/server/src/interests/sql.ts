// The rows of interests. Every query names the tenant.
import type { Interest } from '@sensorium/contract'
import { iso } from '../kernel/clock.ts'
import { one, type Db, type Insert } from '../store/db.ts'
import type { EnrichmentDepth } from '../routing/table.ts'

export interface InterestRow {
  tenant_id: string
  id: string
  agent_id: string
  event_type: string
  filter_expression: string | null
  conflict_key: string
  priority: number
  enrichment_depth: EnrichmentDepth
  active: number
  created_at: number
  updated_at: number
}

const COLUMNS =
  'tenant_id, id, agent_id, event_type, filter_expression, conflict_key, priority, enrichment_depth, active, created_at, updated_at'

export const shownInterest = (row: InterestRow): Interest => ({
  id: row.id,
  tenant_id: row.tenant_id,
  agent_id: row.agent_id,
  event_type: row.event_type,
  filter_expression: row.filter_expression,
  priority: row.priority,
  enrichment_depth: row.enrichment_depth,
  active: row.active === 1,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})

const INTERESTS: Insert = {
  into: 'interests',
  columns: {
    tenant_id: 'text',
    id: 'text',
    agent_id: 'text',
    event_type: 'text',
    filter_expression: 'text',
    conflict_key: 'text',
    priority: 'bigint',
    enrichment_depth: 'text',
    active: 'integer',
    created_at: 'bigint',
    updated_at: 'bigint',
  },
  conflict: 'on conflict (tenant_id, agent_id, conflict_key) do nothing',
  returning: 'id',
}

/**
 * Inserts the interests that their agents do not have yet, and returns the ids of these. On PostgreSQL it waits for a
 * competing insert of the same interest.
 */
export const insertInterests = (db: Db, rows: readonly InterestRow[]) =>
  db.insertMany<{ id: string }>(
    INTERESTS,
    rows.map((r) => [
      r.tenant_id,
      r.id,
      r.agent_id,
      r.event_type,
      r.filter_expression,
      r.conflict_key,
      r.priority,
      r.enrichment_depth,
      r.active,
      r.created_at,
      r.updated_at,
    ]),
  )

/** Adds to the number of an agent's interests and returns the sum. Locks the row until the transaction ends. */
export async function addToCount(db: Db, tenantId: string, agentId: string, added: number): Promise<number> {
  const row = await one<{ interests: number }>(
    db,
    `insert into interest_counts (tenant_id, agent_id, interests) values (?, ?, ?)
     on conflict (tenant_id, agent_id) do update set interests = interest_counts.interests + excluded.interests
     returning interests`,
    [tenantId, agentId, added],
  )
  return row!.interests
}

/** Returns the interest of an agent with this key, which no second one may have. Locks nothing. */
export const findConflict = (db: Db, { tenant_id, agent_id, conflict_key }: InterestRow) =>
  one<{ id: string }>(db, 'select id from interests where tenant_id = ? and agent_id = ? and conflict_key = ?', [
    tenant_id,
    agent_id,
    conflict_key,
  ])

/**
 * The ids of an agent's interests, the newest first. Sorted by an expression: in the order of their ids alone, SQLite
 * read the interests of all agents of the tenant.
 */
export const interestIds = async (db: Db, tenantId: string, agentId: string): Promise<string[]> =>
  (
    await db.rows<{ id: string }>(
      "select id from interests where tenant_id = ? and agent_id = ? order by id || '' desc",
      [tenantId, agentId],
    )
  ).map(({ id }) => id)

/** Returns the given interests that still exist, the newest first. */
export const readInterests = (db: Db, tenantId: string, ids: string[]) =>
  db.rows<InterestRow>(
    `select ${COLUMNS} from interests where tenant_id = ? and ${db.dialect.inList('id')} order by id desc`,
    [tenantId, db.dialect.list(ids)],
  )

/** Returns whether the interest still exists. If so, it is locked against deletion until the transaction ends. */
export const holdInterest = async (db: Db, { tenant_id, agent_id, id }: InterestRow): Promise<boolean> =>
  (await one(db, `select id from interests where tenant_id = ? and agent_id = ? and id = ? ${db.dialect.forShare}`, [
    tenant_id,
    agent_id,
    id,
  ])) !== undefined

/** Deletes an interest and counts it off. Returns how many rows were deleted: 0 if it was deleted before. */
export async function deleteInterestRow(db: Db, tenantId: string, agentId: string, id: string): Promise<number> {
  const deleted = await db.run('delete from interests where tenant_id = ? and agent_id = ? and id = ?', [
    tenantId,
    agentId,
    id,
  ])
  if (deleted > 0) await addToCount(db, tenantId, agentId, -deleted)
  return deleted
}
