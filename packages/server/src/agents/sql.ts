// The rows of agents. Every query names the tenant.
import type { Agent } from '@sensorium/contract'
import { iso } from '../kernel/clock.ts'
import { one, type Db, type Reads, type Value } from '../store/db.ts'
import { maskedEndpoint, type ShowEndpoint } from './endpoint-user.ts'

export interface AgentRow {
  tenant_id: string
  id: string
  name: string
  description: string | null
  status: 'active' | 'inactive'
  delivery_mode: 'poll' | 'push' | 'sse'
  /** Its user and password are sealed (endpoint-user.ts). */
  delivery_endpoint: string | null
  client_type: string
  team_id: string | null
  /** JSON text of seconds. */
  retry_schedule: string | null
  external_id: string | null
  /** 0 or 1. */
  paused: number
  created_at: number
  updated_at: number
}

const COLUMNS =
  'tenant_id, id, name, description, status, delivery_mode, delivery_endpoint, client_type, team_id, retry_schedule, external_id, paused, created_at, updated_at'

/** Parses a push schedule from its stored form. */
export const scheduleOf = (stored: string | null): number[] | null =>
  stored === null ? null : (JSON.parse(stored) as number[])

export const storedSchedule = (schedule: readonly number[] | null): string | null =>
  schedule === null ? null : JSON.stringify(schedule)

/** Shows an agent, without user and password of its endpoint unless `show` shows them. */
export function shownAgent(row: AgentRow, show: ShowEndpoint = maskedEndpoint): Agent {
  const shown: Agent = {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    description: row.description,
    status: row.status,
    delivery_mode: row.delivery_mode,
    client_type: row.client_type,
    team_id: row.team_id,
    paused: row.paused === 1,
    retry_schedule_seconds: scheduleOf(row.retry_schedule),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  }
  if (row.external_id !== null) shown.external_id = row.external_id
  const endpoint = show(row)
  if (endpoint !== null) shown.delivery_endpoint = endpoint
  return shown
}

/**
 * Inserts unless the external id is taken; returns how many rows were written. On PostgreSQL it waits for a competing
 * insert.
 */
export const insertAgent = (db: Db, row: AgentRow): Promise<number> =>
  db.run(`insert into agents (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`, [
    row.tenant_id,
    row.id,
    row.name,
    row.description,
    row.status,
    row.delivery_mode,
    row.delivery_endpoint,
    row.client_type,
    row.team_id,
    row.retry_schedule,
    row.external_id,
    row.paused,
    row.created_at,
    row.updated_at,
  ])

// Built once: a statement is found by its text, and a text that is new every time has to be hashed every time.
const FIND = `select ${COLUMNS} from agents where tenant_id = ? and id = ?`

/** Returns the agent. Locks nothing. */
export const findAgent = (db: Db, tenantId: string, id: string) => db.lookUp<AgentRow>(FIND, [tenantId, id])

/** Returns which of the ids are agents of the tenant. */
export const readExistingAgents = (db: Reads, tenantId: string, ids: string[]) =>
  db.rows<{ id: string }>(`select id from agents where tenant_id = ? and ${db.dialect.inList('id')}`, [
    tenantId,
    db.dialect.list(ids),
  ])

/** Returns the agent, locked against other writers until the transaction ends. */
export const lockAgent = (db: Db, tenantId: string, id: string) =>
  one<AgentRow>(db, `select ${COLUMNS} from agents where tenant_id = ? and id = ? ${db.dialect.forUpdate}`, [
    tenantId,
    id,
  ])

/** Returns the agent with that external id, locked against other writers until the transaction ends. */
export const lockAgentByExternalId = (db: Db, tenantId: string, externalId: string) =>
  one<AgentRow>(db, `select ${COLUMNS} from agents where tenant_id = ? and external_id = ? ${db.dialect.forUpdate}`, [
    tenantId,
    externalId,
  ])

/** Returns a page of the agents, newest first, and how many there are. Locks nothing. */
export async function pageAgents(db: Db, tenantId: string, status: string | undefined, offset: number, limit: number) {
  const where = status === undefined ? 'tenant_id = ?' : 'tenant_id = ? and status = ?'
  const values: Value[] = status === undefined ? [tenantId] : [tenantId, status]
  const rows = await db.rows<AgentRow>(
    `select ${COLUMNS} from agents where ${where} order by id desc limit ? offset ?`,
    [...values, limit, offset],
  )
  const count = await one<{ n: number }>(db, `select count(*) as n from agents where ${where}`, values)
  return { rows, total: count?.n ?? 0 }
}

/** Writes the columns of an agent that can change. */
export const saveAgent = (db: Db, row: AgentRow): Promise<number> =>
  db.run(
    `update agents set name = ?, description = ?, status = ?, delivery_mode = ?, delivery_endpoint = ?, client_type = ?, team_id = ?,
            retry_schedule = ?, paused = ?, updated_at = ?
      where tenant_id = ? and id = ?`,
    [
      row.name,
      row.description,
      row.status,
      row.delivery_mode,
      row.delivery_endpoint,
      row.client_type,
      row.team_id,
      row.retry_schedule,
      row.paused,
      row.updated_at,
      row.tenant_id,
      row.id,
    ],
  )
