// A new agent of the tenant: active, with no key yet.
import type { Agent, AgentCreate, Static } from '@sensorium/contract'
import { taken } from '../kernel/failure.ts'
import type { MakeId } from '../kernel/ids.ts'
import type { Db } from '../store/db.ts'
import { insertAgent, lockAgentByExternalId, shownAgent, storedSchedule, type AgentRow } from './sql.ts'

type Registration = Static<typeof AgentCreate>

/** The fields of a request body as columns of an agent. */
export const agentFields = (wanted: Registration) => ({
  name: wanted.name,
  description: wanted.description ?? null,
  delivery_mode: wanted.delivery_mode,
  client_type: wanted.client_type,
  team_id: wanted.team_id ?? null,
  retry_schedule: storedSchedule(wanted.retry_schedule_seconds ?? null),
})

export const newAgent = (makeId: MakeId, now: number, tenantId: string, wanted: Registration): AgentRow => ({
  tenant_id: tenantId,
  id: makeId('agent'),
  ...agentFields(wanted),
  external_id: wanted.external_id ?? null,
  status: 'active',
  paused: 0,
  delivery_endpoint: null,
  created_at: now,
  updated_at: now,
})

export async function registerAgent(
  db: Db,
  makeId: MakeId,
  now: number,
  tenantId: string,
  wanted: Registration,
): Promise<Agent> {
  const row = newAgent(makeId, now, tenantId, wanted)
  if ((await insertAgent(db, row)) === 0)
    throw taken('This external id', (await lockAgentByExternalId(db, tenantId, row.external_id!))?.id ?? null)
  return shownAgent(row)
}
