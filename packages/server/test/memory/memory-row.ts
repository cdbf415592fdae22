// A memory as its table keeps it, for tests and benches that write rows past the API.
import type { MemoryRow } from '../../src/memory/sql.ts'

type Identity = Pick<MemoryRow, 'tenant_id' | 'agent_id' | 'id'>

export const memoryRow = (identity: Identity, at: number, more: Partial<MemoryRow> = {}): MemoryRow => ({
  ...identity,
  team_id: null,
  project_id: null,
  type: 'semantic',
  scope: 'agent',
  status: 'active',
  title: identity.id,
  content: identity.id,
  confidence: 1,
  importance: 0.5,
  metadata: '{}',
  metadata_id: null,
  metadata_bytes: null,
  source_type: null,
  source_id: null,
  source_url: null,
  source_event_id: null,
  external_id: null,
  freshness_date: null,
  expires_at: null,
  created_at: at,
  updated_at: at,
  accessed_at: at,
  ...more,
})
