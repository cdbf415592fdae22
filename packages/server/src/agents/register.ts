// A new agent of the tenant: active, with no key yet.
import type { Agent, AgentCreate, Static } from '@sensorium/contract'
import type { MakeId } from '../kernel/ids.ts'
import type { Db } from '../store/db.ts'
import { insertAgent, shownAgent, storedSchedule, type AgentRow } from './sql.ts'

export async function registerAgent(
  db: Db,
  makeId: MakeId,
  now: number,
  tenantId: string,
  wanted: Static<typeof AgentCreate>,
): Promise<Agent> {
  const row: AgentRow = {
    tenant_id: tenantId,
    id: makeId('agent'),
    name: wanted.name,
    description: wanted.description ?? null,
    status: 'active',
    delivery_mode: wanted.delivery_mode,
    delivery_endpoint: null,
    client_type: wanted.client_type,
    team_id: wanted.team_id ?? null,
    retry_schedule: storedSchedule(wanted.retry_schedule_seconds ?? null),
    created_at: now,
    updated_at: now,
  }
  await insertAgent(db, row)
  return shownAgent(row)
}
