// Changes to an agent: its fields, and whether it is active. Changing nothing writes nothing.
import { isId, type Agent, type AgentUpdate, type Static } from '@sensorium/contract'
import { notFound } from '../kernel/failure.ts'
import type { Secrets } from '../kernel/secrets.ts'
import { recordRoutingChange } from '../routing/changes.ts'
import type { Announce } from '../store/announce.ts'
import type { Db } from '../store/db.ts'
import { storedEndpoint, type ShowEndpoint } from './endpoint-user.ts'
import { lockAgent, saveAgent, shownAgent, storedSchedule, type AgentRow } from './sql.ts'

interface UpdatedAgent {
  agent: Agent
  isChanged: boolean
}

/** The new values of columns; undefined leaves one as it is. */
type Changes = { [Name in keyof AgentRow]?: AgentRow[Name] | undefined }

async function change(
  db: Db,
  now: number,
  tenantId: string,
  id: string,
  changesOf: (row: AgentRow) => Changes,
  show?: ShowEndpoint,
): Promise<UpdatedAgent> {
  const row = isId('agent', id) ? await lockAgent(db, tenantId, id) : undefined
  if (!row) throw notFound('agent', id)
  const fields = Object.entries(changesOf(row)).filter(
    ([name, value]) => value !== undefined && row[name as keyof AgentRow] !== value,
  )
  if (fields.length === 0) return { agent: shownAgent(row, show), isChanged: false }
  const changed: AgentRow = { ...row, ...Object.fromEntries(fields), updated_at: now }
  await saveAgent(db, changed)
  return { agent: shownAgent(changed, show), isChanged: true }
}

export async function updateAgent(
  db: Db,
  { announce, secrets }: { announce: Announce; secrets: Secrets },
  now: number,
  tenantId: string,
  id: string,
  wanted: Static<typeof AgentUpdate>,
  show: ShowEndpoint,
): Promise<UpdatedAgent> {
  // Only these fields: a body may carry anything else, which is ignored.
  const { name, description, delivery_mode, delivery_endpoint: endpoint, retry_schedule_seconds: schedule } = wanted
  const changesOf = (row: AgentRow): Changes => ({
    name,
    description,
    delivery_mode,
    delivery_endpoint: endpoint === undefined ? undefined : storedEndpoint(secrets, row, endpoint),
    retry_schedule: schedule === undefined ? undefined : storedSchedule(schedule),
  })
  const updated = await change(db, now, tenantId, id, changesOf, show)
  // The agent may be pushed to from now on, or at another endpoint.
  if (updated.isChanged) announce(db, 'agent', id)
  return updated
}

/** An inactive agent receives nothing new, so this is also a change of routing. */
export async function setAgentStatus(
  db: Db,
  announce: Announce,
  now: number,
  tenantId: string,
  id: string,
  status: AgentRow['status'],
): Promise<UpdatedAgent> {
  const updated = await change(db, now, tenantId, id, () => ({ status }))
  if (!updated.isChanged) return updated
  await recordRoutingChange(db, tenantId, 'agent', id, now)
  announce(db, 'keys', tenantId)
  announce(db, 'agent', id)
  return updated
}

/**
 * Nothing is delivered to a paused agent: the statement that claims checks for it (delivery/claim-sql.ts), and a
 * publish on any node knows it from the routing. Polls that wait are woken when the agent resumes.
 */
export async function setAgentPaused(
  db: Db,
  { announce, wakeups }: { announce: Announce; wakeups: { wake(recipientIds: Iterable<string>): void } },
  now: number,
  tenantId: string,
  id: string,
  paused: boolean,
): Promise<UpdatedAgent> {
  const updated = await change(db, now, tenantId, id, () => ({ paused: paused ? 1 : 0 }))
  if (!updated.isChanged) return updated
  await recordRoutingChange(db, tenantId, 'agent', id, now)
  // Pushes to the agent stop, or start again.
  announce(db, 'agent', id)
  db.afterCommit(() => wakeups.wake([id]))
  return updated
}
