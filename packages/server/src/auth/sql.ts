// The rows of API keys. Every query but the exchange names the tenant; the exchange finds the tenant by the key's hash.
import type { Db } from '../store/db.ts'

export interface KeyRow {
  tenant_id: string
  id: string
  owner_type: 'agent' | 'org_admin'
  owner_id: string
  prefix: string
  scopes: string
  expires_at: number | null
  created_at: number
  last_used_at: number | null
}

const COLUMNS = 'tenant_id, id, owner_type, owner_id, prefix, scopes, expires_at, created_at, last_used_at'

export const insertKey = (db: Db, row: KeyRow, hash: string): Promise<number> =>
  db.run(`insert into api_keys (${COLUMNS}, hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    row.tenant_id,
    row.id,
    row.owner_type,
    row.owner_id,
    row.prefix,
    row.scopes,
    row.expires_at,
    row.created_at,
    row.last_used_at,
    hash,
  ])

/** The live key with that hash, with the status and team of its agent. */
export const findKeyByHash = (db: Db, hash: string, now: number) =>
  db.lookUp<KeyRow & { agent_status: string | null; team_id: string | null }>(
    `select k.tenant_id, k.id, k.owner_type, k.owner_id, k.prefix, k.scopes, k.expires_at, k.created_at, k.last_used_at,
            a.status as agent_status, a.team_id
       from api_keys k left join agents a on a.tenant_id = k.tenant_id and a.id = k.owner_id
      where k.hash = ? and k.revoked_at is null and (k.expires_at is null or k.expires_at > ?)`,
    [hash, now],
  )

export const touchKey = (db: Db, tenantId: string, id: string, now: number): Promise<number> =>
  db.run('update api_keys set last_used_at = ? where tenant_id = ? and id = ?', [now, tenantId, id])

/** The keys of one owner that are not revoked, newest first. */
export const listKeyRows = (db: Db, tenantId: string, ownerId: string): Promise<KeyRow[]> =>
  db.rows<KeyRow>(
    `select ${COLUMNS} from api_keys where tenant_id = ? and owner_id = ? and revoked_at is null order by id desc`,
    [tenantId, ownerId],
  )

/** Revokes a live key once; a second time changes nothing. */
export const revokeKeyRow = (db: Db, tenantId: string, ownerId: string, id: string, now: number): Promise<number> =>
  db.run('update api_keys set revoked_at = ? where tenant_id = ? and owner_id = ? and id = ? and revoked_at is null', [
    now,
    tenantId,
    ownerId,
    id,
  ])

export interface StandingRow {
  id: string
  standing: 'live' | 'revoked' | 'inactive'
}

/** Which of these keys still stand: not revoked, and their agent active. Unknown keys are left out. */
export const readStandings = (db: Db, tenantIds: string[], keyIds: string[]): Promise<StandingRow[]> =>
  db.rows<StandingRow>(
    `select k.id, case when k.revoked_at is not null then 'revoked'
                       when k.owner_type = 'agent' and a.status <> 'active' then 'inactive'
                       else 'live' end as standing
       from api_keys k left join agents a on a.tenant_id = k.tenant_id and a.id = k.owner_id
      where ${db.dialect.inList('k.tenant_id')} and ${db.dialect.inList('k.id')}`,
    [db.dialect.list(tenantIds), db.dialect.list(keyIds)],
  )
