// The filters of a search as SQL conditions on `m`, valid on both engines.
import { allOf, type Condition } from '../see.ts'
import { hasFacts } from './facts.ts'
import type { SearchFilters, SearchQuery } from './memory-index.ts'

/** Returns the conditions of all filters except scope, type and confidence. */
function filterConditions(tenantId: string, filters: SearchFilters): Condition[] {
  const { projectId, sourceEventId, createdAfter, createdBefore, metadata = {} } = filters
  const conditions = hasFacts(tenantId, metadata)
  if (projectId !== undefined) conditions.push({ sql: 'm.project_id = ?', values: [projectId] })
  if (sourceEventId !== undefined) conditions.push({ sql: 'm.source_event_id = ?', values: [sourceEventId] })
  if (createdAfter !== undefined) conditions.push({ sql: 'm.created_at > ?', values: [createdAfter] })
  if (createdBefore !== undefined) conditions.push({ sql: 'm.created_at < ?', values: [createdBefore] })
  return conditions
}

/** Selects the ids of a tenant's live memories that pass the filters; null if there are none. */
export function passingQuery({ viewer, filters }: Pick<SearchQuery, 'viewer' | 'filters'>): Condition | null {
  const conditions = filterConditions(viewer.tenantId, filters)
  if (conditions.length === 0) return null
  const { sql, values } = allOf(...conditions)
  return {
    sql: `select m.id from memories m where m.tenant_id = ? and m.status = 'active' and ${sql}`,
    values: [viewer.tenantId, ...values],
  }
}

/** Returns the condition that a memory which the viewer sees passes all filters of a search. */
export function wantedSql({ viewer, scope, type, minConfidence, filters }: SearchQuery): Condition {
  const conditions: Condition[] = [{ sql: 'm.confidence >= ?::double precision', values: [minConfidence] }]
  if (scope !== null) conditions.push({ sql: 'm.scope = ?', values: [scope] })
  if (type !== null) conditions.push({ sql: 'm.type = ?', values: [type] })
  return allOf(...conditions, ...filterConditions(viewer.tenantId, filters))
}
