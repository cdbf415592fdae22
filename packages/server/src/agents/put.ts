// Puts an agent by its id in an external system: registers it if there is none, and otherwise makes it what the body
// says. Fields that the body leaves out get the values of a new agent; status and endpoint stay.
import type { Agent, AgentCreate, Static } from '@sensorium/contract'
import { externalIdOf } from '../kernel/external-id.ts'
import type { Announce } from '../store/announce.ts'
import type { Db } from '../store/db.ts'
import type { MakeId } from '../kernel/ids.ts'
import type { ShowEndpoint } from './endpoint-user.ts'
import { agentFields, keepNewAgent, newAgent, type AgentQuota } from './register.ts'
import { lockAgentByExternalId, saveAgent, shownAgent, type AgentRow } from './sql.ts'

interface PutAgentTools {
  makeId: MakeId
  announce: Announce
  quotas: AgentQuota
  now(): number
}

interface PutAgent {
  agent: Agent
  made: boolean
  isChanged: boolean
}

export async function putAgent(
  tx: Db,
  { makeId, announce, quotas, now }: PutAgentTools,
  tenantId: string,
  externalId: string,
  wanted: Static<typeof AgentCreate>,
  show?: ShowEndpoint,
): Promise<PutAgent> {
  const external_id = externalIdOf(externalId, wanted)
  const at = now()
  const row = newAgent(makeId, at, tenantId, { ...wanted, external_id })
  const found = (await lockAgentByExternalId(tx, tenantId, external_id)) ?? (await keepNewAgent(tx, quotas, row))
  if (!found) return { agent: shownAgent(row, show), made: true, isChanged: true }
  const fields = agentFields(wanted)
  const isSame = Object.entries(fields).every(([name, value]) => found[name as keyof AgentRow] === value)
  if (isSame) return { agent: shownAgent(found, show), made: false, isChanged: false }
  const changed: AgentRow = { ...found, ...fields, updated_at: at }
  await saveAgent(tx, changed)
  announce(tx, 'agent', found.id)
  // The tokens of an agent see what its team sees.
  if (changed.team_id !== found.team_id) announce(tx, 'keys', tenantId)
  return { agent: shownAgent(changed, show), made: false, isChanged: true }
}
