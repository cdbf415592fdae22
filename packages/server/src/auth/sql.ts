// The rows of API keys. Every query but the exchange names the tenant; the exchange finds the tenant by the key's hash.
import type { Db, Reads } from '../store/db.ts'

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

/** Adds a key, of which only the hash is stored. */
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

/** The live key with that hash. Locks nothing. */
export const findKeyByHash = (db: Db, hash: string, now: number) =>
  db.lookUp<KeyRow>(
    `select ${COLUMNS} from api_keys where hash = ? and revoked_at is null and (expires_at is null or expires_at > ?)`,
    [hash, now],
  )

/** Notes when a key was last used. Waits for another change of the key. */
export const touchKey = (db: Db, tenantId: string, id: string, now: number): Promise<number> =>
  db.run('update api_keys set last_used_at = ? where tenant_id = ? and id = ?', [now, tenantId, id])

/** The keys of one owner that are not revoked, newest first. */
export const listKeyRows = (db: Db, tenantId: string, ownerId: string): Promise<KeyRow[]> =>
  db.rows<KeyRow>(
    `select ${COLUMNS} from api_keys where tenant_id = ? and owner_id = ? and revoked_at is null order by id desc`,
    [tenantId, ownerId],
  )

/**
 * Returns up to `most` keys of one owner that are not revoked, newest first, that follow `last`. The index
 * api_keys_live holds no others, so that a page is read in one step, however many keys were revoked.
 */
export const pageKeyRows = (db: Db, tenantId: string, ownerId: string, last: string | null, most: number) =>
  db.rows<KeyRow>(
    `select ${COLUMNS} from api_keys
      where tenant_id = ? and owner_id = ? and revoked_at is null${last === null ? '' : ' and id < ?'}
      order by id desc limit ?`,
    [tenantId, ownerId, ...(last === null ? [] : [last]), most],
  )

/** Revokes a live key. A second call changes nothing. */
export const revokeKeyRow = (db: Db, tenantId: string, ownerId: string, id: string, now: number): Promise<number> =>
  db.run('update api_keys set revoked_at = ? where tenant_id = ? and owner_id = ? and id = ? and revoked_at is null', [
    now,
    tenantId,
    ownerId,
    id,
  ])

interface KeyStandingRow {
  id: string
  standing: 'live' | 'revoked' | 'inactive'
  /** The team of the key's agent. */
  team_id: string | null
  expires_at: number | null
}

/** A key, with the columns that decide its standing. */
interface KeyWithOwner {
  tenant_id: string
  id: string
  owner_type: string
  owner_id: string
  revoked_at: number | null
  expires_at: number | null
}

/**
 * Returns the standing of each key, when it expires, and the team of its agent. A key is live if it is not revoked and
 * its agent is active. Unknown keys are left out. Locks nothing.
 */
export const readStandings = (
  db: Reads,
  isSharded: boolean,
  tenantIds: string[],
  keyIds: string[],
): Promise<KeyStandingRow[]> =>
  isSharded ? standingsByTenant(db, tenantIds, keyIds) : standingsAtOnce(db, tenantIds, keyIds)

/** Two lists instead of pairs: the id of a key is unique over all tenants. */
const standingsAtOnce = (db: Reads, tenantIds: string[], keyIds: string[]): Promise<KeyStandingRow[]> =>
  db.rows<KeyStandingRow>(
    `select k.id, case when k.revoked_at is not null then 'revoked'
                       when k.owner_type = 'agent' and a.status <> 'active' then 'inactive'
                       else 'live' end as standing, a.team_id, k.expires_at
       from api_keys k left join agents a on a.tenant_id = k.tenant_id and a.id = k.owner_id
      where ${db.dialect.inList('k.tenant_id')} and ${db.dialect.inList('k.id')}`,
    [db.dialect.list(tenantIds), db.dialect.list(keyIds)],
  )

/** Keys are on every machine, agents with their tenant: one query for the keys, and one for each tenant. */
async function standingsByTenant(db: Reads, tenantIds: string[], keyIds: string[]): Promise<KeyStandingRow[]> {
  const keys = await db.rows<KeyWithOwner>(
    `select tenant_id, id, owner_type, owner_id, revoked_at, expires_at from api_keys where ${db.dialect.inList('tenant_id')} and ${db.dialect.inList('id')}`,
    [db.dialect.list(tenantIds), db.dialect.list(keyIds)],
  )
  const ofTenants = Array.from(
    Map.groupBy(keys, (key) => key.tenant_id),
    async ([tenantId, ofTenant]) => {
      const owners = ofTenant.filter(({ owner_type }) => owner_type === 'agent').map(({ owner_id }) => owner_id)
      const agents = owners.length > 0 ? await readOwners(db, tenantId, owners) : []
      const byId = new Map(agents.map((agent) => [agent.id, agent]))
      return ofTenant.map(({ id, owner_id, revoked_at, expires_at }): KeyStandingRow => {
        const { status = 'active', team_id = null } = byId.get(owner_id) ?? {}
        return {
          id,
          standing: revoked_at !== null ? 'revoked' : status === 'active' ? 'live' : 'inactive',
          team_id,
          expires_at,
        }
      })
    },
  )
  return (await Promise.all(ofTenants)).flat()
}

/** Returns the status and team of agents that own keys. Locks nothing. */
const readOwners = (db: Reads, tenantId: string, ids: string[]) =>
  db.rows<{ id: string; status: string; team_id: string | null }>(
    `select id, status, team_id from agents where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(ids)],
  )
