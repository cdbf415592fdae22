// The rows of webhooks and connectors. The operator and the supervisor serve every tenant: their queries go by id or by
// time.
import type { ConnectorState } from '@sensorium/contract'
import { one, type Db } from '../store/db.ts'

export interface WebhookRow {
  tenant_id: string
  slug: string
  id: string
  source: string
  preset: string | null
  mapping: string
  secret: string
  /** `OldSecret[]` as JSON: those from before that still hold. */
  old_secrets: string
  active: number
  created_at: number
}

/** A secret that was rotated away, and when it ends. */
export interface OldSecret {
  sealed: string
  until: number
}

/** The secrets from before that hold at a time, newest first. */
export const holdingSecrets = ({ old_secrets }: WebhookRow, time: number): OldSecret[] =>
  (JSON.parse(old_secrets) as OldSecret[]).filter(({ until }) => time < until)

interface Rows<R> {
  rows: R[]
  total: number
}

const WEBHOOK = `w.tenant_id, t.slug, w.id, w.source, w.preset, w.mapping,
  w.secret, w.old_secrets, w.active, w.created_at
  from webhooks w join tenants t on t.tenant_id = w.tenant_id`

export const insertWebhook = (db: Db, r: WebhookRow): Promise<number> =>
  db.run(
    `insert into webhooks (tenant_id, id, source, preset, mapping, secret, old_secrets, active, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [r.tenant_id, r.id, r.source, r.preset, r.mapping, r.secret, r.old_secrets, r.active, r.created_at],
  )

/** The active webhooks behind a slug, oldest first; none for an unknown slug. */
export const webhooksOfSlug = (db: Db, slug: string) =>
  db.rows<WebhookRow>(`select ${WEBHOOK} where t.slug = ? and w.active = 1 order by w.id`, [slug])

export const findWebhook = (db: Db, id: string) => one<WebhookRow>(db, `select ${WEBHOOK} where w.id = ?`, [id])

/** A page of the webhooks of a tenant, or of all, newest first. */
export async function pageWebhooks(
  db: Db,
  tenantId: string | null,
  offset: number,
  limit: number,
): Promise<Rows<WebhookRow>> {
  const where = tenantId === null ? '' : 'where w.tenant_id = ?'
  const scope = tenantId === null ? [] : [tenantId]
  const rows = await db.rows<WebhookRow>(`select ${WEBHOOK} ${where} order by w.id desc limit ? offset ?`, [
    ...scope,
    limit,
    offset,
  ])
  const count = await one<{ n: number }>(db, `select count(*) as n from webhooks w ${where}`, scope)
  return { rows, total: count?.n ?? 0 }
}

/**
 * Puts a new secret in the place of the one the row has, and these beside it; changes nothing if that is another by
 * now.
 */
export const replaceSecret = (db: Db, row: WebhookRow, secret: string, old: readonly OldSecret[]): Promise<number> =>
  db.run('update webhooks set secret = ?, old_secrets = ? where tenant_id = ? and id = ? and secret = ?', [
    secret,
    JSON.stringify(old),
    row.tenant_id,
    row.id,
    row.secret,
  ])

export const deleteWebhookRow = (db: Db, tenantId: string, id: string): Promise<number> =>
  db.run('delete from webhooks where tenant_id = ? and id = ?', [tenantId, id])

export const OUTCOMES = ['received', 'accepted', 'duplicates', 'released', 'rejected'] as const
export type Counts = Record<(typeof OUTCOMES)[number], number>

export interface ConnectorRow {
  tenant_id: string
  slug: string
  id: string
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

/** With what its lease says; all null where nobody ever ran it. */
export type ConnectorWithLease = ConnectorRow & {
  [K in keyof (Counts & LeaseFields)]: (Counts & LeaseFields)[K] | null
}

interface LeaseFields {
  node: string
  expires_at: number
  state: ConnectorState
  last_error: string
  last_message_at: number
}

const CONNECTOR = `c.tenant_id, t.slug, c.id, c.source, c.url, c.shown_url, c.address, c.credit, c.mapping, c.tls_ca, c.paused, c.created_at,
  l.node, l.expires_at, l.state, l.last_error, l.received, l.accepted, l.duplicates, l.released, l.rejected, l.last_message_at
  from connectors c join tenants t on t.tenant_id = c.tenant_id
  left join connector_leases l on l.tenant_id = c.tenant_id and l.connector_id = c.id`

export const insertConnector = (db: Db, r: ConnectorRow): Promise<number> =>
  db.run(
    `insert into connectors (tenant_id, id, source, url, shown_url, address, credit, mapping, tls_ca, paused, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [r.tenant_id, r.id, r.source, r.url, r.shown_url, r.address, r.credit, r.mapping, r.tls_ca, r.paused, r.created_at],
  )

export const findConnector = (db: Db, id: string) =>
  one<ConnectorWithLease>(db, `select ${CONNECTOR} where c.id = ?`, [id])

/** Every connector of every tenant, for the supervisor of a node. */
export const allConnectors = (db: Db) => db.rows<ConnectorWithLease>(`select ${CONNECTOR} order by c.id`)

/** A page of the connectors of a tenant, or of all, newest first. */
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

export const setPaused = (db: Db, tenantId: string, id: string, paused: boolean): Promise<number> =>
  db.run('update connectors set paused = ? where tenant_id = ? and id = ?', [paused ? 1 : 0, tenantId, id])

/** Deletes the connector and its lease, which its node then fails to renew. */
export async function deleteConnectorRow(db: Db, tenantId: string, id: string): Promise<number> {
  await db.run('delete from connector_leases where tenant_id = ? and connector_id = ?', [tenantId, id])
  return db.run('delete from connectors where tenant_id = ? and id = ?', [tenantId, id])
}

export interface LeaseKey {
  tenantId: string
  id: string
  node: string
}

/**
 * Takes a lease that is free, has run out before `freeBefore` or is this node's already. Two nodes that try at once:
 * one gets it.
 */
export async function takeLease(
  db: Db,
  { tenantId, id, node }: LeaseKey,
  until: number,
  freeBefore: number,
): Promise<'taken' | 'held'> {
  const changed = await db.run(
    `insert into connector_leases (tenant_id, connector_id, node, expires_at, state, received, accepted, duplicates, released, rejected)
     values (?, ?, ?, ?, 'starting', 0, 0, 0, 0, 0)
     on conflict (tenant_id, connector_id) do update set node = excluded.node, expires_at = excluded.expires_at, state = 'starting'
       where connector_leases.expires_at <= ? or connector_leases.node = excluded.node`,
    [tenantId, id, node, until, freeBefore],
  )
  return changed === 1 ? 'taken' : 'held'
}

/** Keeps a lease that is still this node's, and says how the connector is doing. */
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

/** Gives a lease back, so that another node need not wait for its end. */
export const freeLease = (db: Db, { tenantId, id, node }: LeaseKey): Promise<number> =>
  db.run('update connector_leases set expires_at = 0 where tenant_id = ? and connector_id = ? and node = ?', [
    tenantId,
    id,
    node,
  ])

/** Adds to the counts of a connector, whoever has its lease by now. */
export const addCounts = (
  db: Db,
  tenantId: string,
  id: string,
  counts: Counts,
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
