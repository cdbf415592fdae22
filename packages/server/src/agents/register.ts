// A new agent of the tenant: active, with no key yet.
import type { Agent, AgentCreate, Static } from '@sensorium/contract'
import { onlyFailure, taken } from '../kernel/failure.ts'
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

export interface AgentQuota {
  makeRoom(tx: Db, tenantId: string, what: 'agents'): Promise<void>
}

/**
 * Stores a new agent. Returns null, or the agent that has its external id already, also if that one took the last room
 * of the quota: it may be what an earlier try of the same request made.
 */
export async function keepNewAgent(tx: Db, quotas: AgentQuota, row: AgentRow): Promise<AgentRow | null> {
  const refusal = await quotas.makeRoom(tx, row.tenant_id, 'agents').catch(onlyFailure)
  if (!refusal && (await insertAgent(tx, row)) > 0) return null
  const holder = row.external_id !== null && (await lockAgentByExternalId(tx, row.tenant_id, row.external_id))
  if (!holder) throw refusal!
  return holder
}

export async function registerAgent(
  tx: Db,
  quotas: AgentQuota,
  makeId: MakeId,
  now: number,
  tenantId: string,
  wanted: Registration,
): Promise<Agent> {
  const row = newAgent(makeId, now, tenantId, wanted)
  const holder = await keepNewAgent(tx, quotas, row)
  if (holder) throw taken('This external id', holder.id)
  return shownAgent(row)
}
