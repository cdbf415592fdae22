// The rows that pushing needs: which agents are pushed to, and the secrets their pushes are signed with.
import { mayBeDue } from '../delivery/claim-sql.ts'
import { IS_LEASED, IS_READY } from '../delivery/standing.ts'
import type { Db } from '../store/db.ts'

const PUSHED = "delivery_mode = 'push' and status = 'active' and paused = 0 and delivery_endpoint is not null"

export interface PushedAgent {
  tenant_id: string
  id: string
  delivery_endpoint: string
}

/** Returns which of these recipients are pushed to, and where. By id over all tenants: a wake-up names no tenant. */
export const pushedAmong = (db: Db, ids: string[]) =>
  db.rows<PushedAgent>(
    `select tenant_id, id, delivery_endpoint from agents where ${db.dialect.inList('id')} and ${PUSHED}`,
    [db.dialect.list(ids)],
  )

const MAY_BE_DUE = `${mayBeDue('a.tenant_id', 'a.id')} = 1`
/** Citus runs no query over several shards in which a subquery has a limit. */
const IS_DUE = `exists (select 1 from deliveries where tenant_id = a.tenant_id and recipient_id = a.id and ${IS_READY})`

/**
 * Returns the next agents that are pushed to, in the order of their ids over all tenants, where, and whether each
 * may have something due.
 */
export const pagePushed = (db: Db, after: string, limit: number, now: number) =>
  db.rows<PushedAgent & { due: number }>(
    `select a.tenant_id, a.id, a.delivery_endpoint, case when ${db.isSharded ? IS_DUE : MAY_BE_DUE} then 1 else 0 end as due
       from agents a where a.id > ? and ${PUSHED} order by a.id limit ?`,
    [now, after, limit],
  )

interface TargetRow {
  delivery_endpoint: string
  retry_schedule: string | null
  sealed: string | null
}

/**
 * Returns where to push and the secrets to sign with, newest first; no row if the agent is not pushed to (any more).
 * Locks the agent's row, so that what the transaction claims goes where the agent wanted it at that moment. Without the
 * lock, what was published after the response to a change still went to the old endpoint.
 */
export const targetRows = (db: Db, tenantId: string, agentId: string, now: number) =>
  db.rows<TargetRow>(
    `select a.delivery_endpoint, a.retry_schedule, s.sealed from agents a
       left join push_secrets s on s.tenant_id = a.tenant_id and s.agent_id = a.id and (s.valid_until is null or s.valid_until > ?)
      where a.tenant_id = ? and a.id = ? and a.delivery_mode = 'push' and a.status = 'active' and a.paused = 0 and a.delivery_endpoint is not null
      order by s.number desc ${db.dialect.forShareOf('a')}`,
    [now, tenantId, agentId],
  )

/** Stops pushing to an endpoint that is gone for good, unless the agent has named another one meanwhile. */
export const switchToPoll = (db: Db, tenantId: string, agentId: string, endpoint: string, now: number) =>
  db.run(
    `update agents set delivery_mode = 'poll', updated_at = ?
      where tenant_id = ? and id = ? and delivery_mode = 'push' and delivery_endpoint = ?`,
    [now, tenantId, agentId, endpoint],
  )

/** Makes the first secret of an agent, unless it has one. Two nodes that push for the first time make only one. */
export const addFirstSecret = (db: Db, tenantId: string, agentId: string, sealed: string, now: number) =>
  db.run(
    `insert into push_secrets (tenant_id, agent_id, number, sealed, valid_until, created_at) values (?, ?, 1, ?, null, ?)
     on conflict (tenant_id, agent_id, number) do nothing`,
    [tenantId, agentId, sealed, now],
  )

/**
 * Adds a secret after the last one. On PostgreSQL it waits for a competing insert of the same number. Returns 0 if that
 * insert won.
 */
export const addSecret = (db: Db, tenantId: string, agentId: string, sealed: string, now: number) =>
  db.run(
    `insert into push_secrets (tenant_id, agent_id, number, sealed, valid_until, created_at)
     select ?, ?, coalesce(max(number), 0) + 1, ?, null, cast(? as bigint) from push_secrets where tenant_id = ? and agent_id = ?
     on conflict (tenant_id, agent_id, number) do nothing`,
    [tenantId, agentId, sealed, now, tenantId, agentId],
  )

/** Sets the end of all secrets that have none yet. */
export const retireSecrets = (db: Db, tenantId: string, agentId: string, until: number) =>
  db.run('update push_secrets set valid_until = ? where tenant_id = ? and agent_id = ? and valid_until is null', [
    until,
    tenantId,
    agentId,
  ])

/** Deletes secrets that are no longer valid, and those older than the newest few. */
export const dropSecrets = (db: Db, tenantId: string, agentId: string, now: number, keep: number) =>
  db.run(
    `delete from push_secrets where tenant_id = ? and agent_id = ? and (valid_until <= ? or number <=
       (select max(number) from push_secrets where tenant_id = ? and agent_id = ?) - ?)`,
    [tenantId, agentId, now, tenantId, agentId, keep],
  )

export interface LeaseRow {
  id: string
  leases: number
  due_at: number
}

/** Returns which of these deliveries of a tenant are leased now, and until when. Locks nothing. */
export const readLeases = (db: Db, tenantId: string, ids: string[], now: number) =>
  db.rows<LeaseRow>(
    `select id, leases, due_at from deliveries where tenant_id = ? and ${db.dialect.inList('id')} and ${IS_LEASED}`,
    [tenantId, db.dialect.list(ids), now],
  )

/** Returns which of these mailboxes of a tenant may have something due. Only mailboxes polled before are known. */
export const dueAmong = (db: Db, tenantId: string, recipientIds: string[], now: number) =>
  db.rows<{ recipient_id: string }>(
    `select m.recipient_id from mailboxes m where m.tenant_id = ? and ${db.dialect.inList('m.recipient_id')}
        and ${mayBeDue('?', 'm.recipient_id')} = 1`,
    [tenantId, db.dialect.list(recipientIds), tenantId, now, tenantId],
  )
