// The filters of a search as SQL conditions on `m`, valid on both engines.
import { allOf, type Condition } from '../see.ts'
import { hasFacts } from './facts.ts'
import type { SearchFilters, SearchQuery } from './memory-index.ts'

/** Returns the conditions of all filters except scope, type and confidence. */
export function filterConditions(filters: SearchFilters): Condition[] {
  const { projectId, sourceEventId, createdAfter, createdBefore, metadata = {} } = filters
  const conditions = hasFacts(metadata)
  if (projectId !== undefined) conditions.push({ sql: 'm.project_id = ?', values: [projectId] })
  if (sourceEventId !== undefined) conditions.push({ sql: 'm.source_event_id = ?', values: [sourceEventId] })
  if (createdAfter !== undefined) conditions.push({ sql: 'm.created_at > ?', values: [createdAfter] })
  if (createdBefore !== undefined) conditions.push({ sql: 'm.created_at < ?', values: [createdBefore] })
  return conditions
}

/** Returns the condition that a memory which the viewer sees passes all filters of a search. */
export function wantedSql({ scope, type, minConfidence, filters }: SearchQuery): Condition {
  const conditions: Condition[] = [{ sql: 'm.confidence >= ?::double precision', values: [minConfidence] }]
  if (scope !== null) conditions.push({ sql: 'm.scope = ?', values: [scope] })
  if (type !== null) conditions.push({ sql: 'm.type = ?', values: [type] })
  return allOf(...conditions, ...filterConditions(filters))
}
