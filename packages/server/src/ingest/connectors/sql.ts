// The rows of connectors and of their leases. The operator and the supervisor serve every tenant, so their queries
// select by id.
import type { ConnectorKind, ConnectorState } from '@sensorium/contract'
import { one, type Db } from '../../store/db.ts'
import type { Rows } from '../registration.ts'

export const OUTCOMES = ['received', 'accepted', 'duplicates', 'released', 'rejected'] as const
export type MessageCounts = Record<(typeof OUTCOMES)[number], number>

interface ConnectorRow {
  tenant_id: string
  slug: string
  id: string
  kind: ConnectorKind
  source: string
  url: string
  shown_url: string
  address: string
  credit: number
  mapping: string
  tls_ca: string | null
  paused: number
  created_at: number
}

/** A connector with the fields of its lease, which are null if no node ever ran it. */
export type ConnectorWithLease = ConnectorRow & {
  [K in keyof (MessageCounts & LeaseFields)]: (MessageCounts & LeaseFields)[K] | null
}

interface LeaseFields {
  node: string
  expires_at: number
  state: ConnectorState
  last_error: string
  last_message_at: number
}

const CONNECTOR = `c.tenant_id, t.slug, c.id, c.kind, c.source, c.url, c.shown_url, c.address, c.credit, c.mapping, c.tls_ca, c.paused, c.created_at,
  l.node, l.expires_at, l.state, l.last_error, l.received, l.accepted, l.duplicates, l.released, l.rejected, l.last_message_at
  from connectors c join tenants t on t.tenant_id = c.tenant_id
  left join connector_leases l on l.tenant_id = c.tenant_id and l.connector_id = c.id`

/** Adds a connector. */
export const insertConnector = (db: Db, r: ConnectorRow): Promise<number> =>
  db.run(
    `insert into connectors
       (tenant_id, id, kind, source, url, shown_url, address, credit, mapping, tls_ca, paused, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      r.tenant_id,
      r.id,
      r.kind,
      r.source,
      r.url,
      r.shown_url,
      r.address,
      r.credit,
      r.mapping,
      r.tls_ca,
      r.paused,
      r.created_at,
    ],
  )

/** Returns a connector of any tenant, with its lease. Locks nothing. */
export const findConnector = (db: Db, id: string) =>
  one<ConnectorWithLease>(db, `select ${CONNECTOR} where c.id = ?`, [id])

/** Every connector of every tenant, for the supervisor of a node. */
export const allConnectors = (db: Db) => db.rows<ConnectorWithLease>(`select ${CONNECTOR} order by c.id`)

/** Returns a page of the connectors of one tenant, or of all tenants, newest first. */
export async function pageConnectors(
  db: Db,
  tenantId: string | null,
  offset: number,
  limit: number,
): Promise<Rows<ConnectorWithLease>> {
  const where = tenantId === null ? '' : 'where c.tenant_id = ?'
  const scope = tenantId === null ? [] : [tenantId]
  const rows = await db.rows<ConnectorWithLease>(`select ${CONNECTOR} ${where} order by c.id desc limit ? offset ?`, [
    ...scope,
    limit,
    offset,
  ])
  const count = await one<{ n: number }>(db, `select count(*) as n from connectors c ${where}`, scope)
  return { rows, total: count?.n ?? 0 }
}

/** Pauses or resumes a connector. Waits for a node that takes its lease. */
export const setPaused = (db: Db, tenantId: string, id: string, paused: boolean): Promise<number> =>
  db.run('update connectors set paused = ? where tenant_id = ? and id = ?', [paused ? 1 : 0, tenantId, id])

/**
 * Deletes the connector and its lease, which its node then fails to renew. The order matches `takeLease`, which locks
 * the connector before it takes the lease.
 */
export async function deleteConnectorRow(db: Db, tenantId: string, id: string): Promise<number> {
  const deleted = await db.run('delete from connectors where tenant_id = ? and id = ?', [tenantId, id])
  await db.run('delete from connector_leases where tenant_id = ? and connector_id = ?', [tenantId, id])
  return deleted
}

export interface LeaseKey {
  tenantId: string
  id: string
  node: string
}

/**
 * Takes a lease that is free, has run out by `freeBefore` or already belongs to this node. If two nodes try at once,
 * one gets it. Locks the connector row, so that no lease is taken for a connector that was paused or deleted meanwhile.
 */
export async function takeLease(
  db: Db,
  { tenantId, id, node }: LeaseKey,
  until: number,
  freeBefore: number,
): Promise<'taken' | 'held' | 'unwanted'> {
  const { forShare } = db.dialect
  const wanted = await one(db, `select id from connectors where tenant_id = ? and id = ? and paused = 0 ${forShare}`, [
    tenantId,
    id,
  ])
  if (!wanted) return 'unwanted'
  const changed = await db.run(
    `insert into connector_leases (tenant_id, connector_id, node, expires_at, state, received, accepted, duplicates, released, rejected)
     values (?, ?, ?, ?, 'starting', 0, 0, 0, 0, 0)
     on conflict (tenant_id, connector_id) do update set node = excluded.node, expires_at = excluded.expires_at, state = 'starting'
       where connector_leases.expires_at <= ? or connector_leases.node = excluded.node`,
    [tenantId, id, node, until, freeBefore],
  )
  return changed === 1 ? 'taken' : 'held'
}

/** Renews a lease that still belongs to this node, and writes the connector's state. */
export async function renewLease(
  db: Db,
  { tenantId, id, node }: LeaseKey,
  until: number,
  state: ConnectorState,
  lastError: string | null,
): Promise<'renewed' | 'lost'> {
  const changed = await db.run(
    'update connector_leases set expires_at = ?, state = ?, last_error = ? where tenant_id = ? and connector_id = ? and node = ?',
    [until, state, lastError, tenantId, id, node],
  )
  return changed === 1 ? 'renewed' : 'lost'
}

/** Frees a lease, so that another node need not wait for it to run out. */
export const freeLease = (db: Db, { tenantId, id, node }: LeaseKey): Promise<number> =>
  db.run('update connector_leases set expires_at = 0 where tenant_id = ? and connector_id = ? and node = ?', [
    tenantId,
    id,
    node,
  ])

/** Adds to the counts of a connector, no matter which node has its lease by now. */
export const addCounts = (
  db: Db,
  tenantId: string,
  id: string,
  counts: MessageCounts,
  lastMessageAt: number | null,
): Promise<number> =>
  db.run(
    `update connector_leases set received = received + ?, accepted = accepted + ?, duplicates = duplicates + ?, released = released + ?,
       rejected = rejected + ?, last_message_at = coalesce(?, last_message_at)
     where tenant_id = ? and connector_id = ?`,
    [
      counts.received,
      counts.accepted,
      counts.duplicates,
      counts.released,
      counts.rejected,
      lastMessageAt,
      tenantId,
      id,
    ],
  )
