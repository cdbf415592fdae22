// The rows of interests. Every query names the tenant.
import type { Interest } from '@sensorium/contract'
import { iso } from '../kernel/clock.ts'
import { one, type Db } from '../store/db.ts'
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

/** Inserts unless the agent has the same interest; answers how many rows were written. */
export const insertInterest = (db: Db, r: InterestRow): Promise<number> =>
  db.run(
    `insert into interests (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (tenant_id, agent_id, conflict_key) do nothing`,
    [
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
    ],
  )

export const findConflict = (db: Db, tenantId: string, agentId: string, conflictKey: string) =>
  one<{ id: string }>(db, 'select id from interests where tenant_id = ? and agent_id = ? and conflict_key = ?', [
    tenantId,
    agentId,
    conflictKey,
  ])

export const listInterestRows = (db: Db, tenantId: string, agentId: string) =>
  db.rows<InterestRow>(`select ${COLUMNS} from interests where tenant_id = ? and agent_id = ? order by id desc`, [
    tenantId,
    agentId,
  ])

export const deleteInterestRow = (db: Db, tenantId: string, agentId: string, id: string): Promise<number> =>
  db.run('delete from interests where tenant_id = ? and agent_id = ? and id = ?', [tenantId, agentId, id])
