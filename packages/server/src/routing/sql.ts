// The queries that fill a routing table. Every query names the tenant.
import type { Reads } from '../store/db.ts'
import type { Aging } from '../store/purge.ts'
import type { EnrichmentDepth, Subscription } from './table.ts'

/**
 * Returns the versions of routing of the tenants that have one. Locks nothing. A single tenant is compared by `=`, so
 * that its shard is found. On a sharded store only one is ever requested.
 */
export const readRoutingVersions = (db: Reads, tenantIds: readonly string[]) =>
  db.rows<{ tenant_id: string; version: number; stamp: string }>(
    `select tenant_id, version, stamp from routing_versions where ${tenantIds.length === 1 ? 'tenant_id = ?' : db.dialect.inList('tenant_id')}`,
    [tenantIds.length === 1 ? tenantIds[0]! : db.dialect.list(tenantIds)],
  )

export interface Change {
  version: number
  /** The stamp of this change, and of the one before it. */
  stamp: string
  previous: string
  kind: string
  id: string
  /** Who joined or left the channel; null if all its members have to be read. */
  joined_id: string | null
  left_id: string | null
}

/** Returns the changes after a version, oldest first. */
export const readChanges = (db: Reads, tenantId: string, after: number, limit: number) =>
  db.rows<Change>(
    `select version, stamp, previous, kind, id, joined_id, left_id from routing_changes
      where tenant_id = ? and version > ? order by version limit ?`,
    [tenantId, after, limit],
  )

export interface RoutedInterestRow {
  id: string
  agent_id: string
  event_type: string
  filter_expression: string | null
  priority: number
  enrichment_depth: EnrichmentDepth
}

export const fromInterest = (row: RoutedInterestRow): Subscription => ({
  kind: 'interest',
  id: row.id,
  glob: row.event_type,
  filter: row.filter_expression,
  priority: row.priority,
  enrichment: row.enrichment_depth,
  agentId: row.agent_id,
  channelId: null,
})

/** The place of a row among the feeds or the members of a tenant. */
interface InChannel {
  channel_id: string
  id: string
}

export interface RoutedMemberRow extends InChannel {
  participant_id: string
}

export interface RoutedFeedRow extends InChannel {
  creator_id: string | null
  event_type_glob: string
  filter_expression: string | null
}

export const fromFeed = (row: RoutedFeedRow): Subscription => ({
  kind: 'feed',
  id: row.id,
  glob: row.event_type_glob,
  filter: row.filter_expression,
  priority: 0,
  enrichment: 'none',
  agentId: null,
  channelId: row.channel_id,
  payer: `feeds ${row.creator_id ?? row.channel_id}`,
})

const INTEREST = 'select id, agent_id, event_type, filter_expression, priority, enrichment_depth from interests'
const FEED = `select f.id, f.channel_id, f.event_type_glob, f.filter_expression, c.created_by_id as creator_id
  from channel_feeds f left join channels c on c.tenant_id = f.tenant_id and c.id = f.channel_id`

/** Returns a page of active interests in the order of their ids. */
export const pageInterests = (db: Reads, tenantId: string, after: { id: string }, limit: number) =>
  db.rows<RoutedInterestRow>(`${INTEREST} where tenant_id = ? and id > ? and active = 1 order by id limit ?`, [
    tenantId,
    after.id,
    limit,
  ])

/** Returns those of the given interests that are active. Locks nothing. */
export const readRoutedInterests = async (db: Reads, tenantId: string, ids: string[]): Promise<Subscription[]> =>
  (
    await db.rows<RoutedInterestRow>(`${INTEREST} where tenant_id = ? and active = 1 and ${db.dialect.inList('id')}`, [
      tenantId,
      db.dialect.list(ids),
    ])
  ).map(fromInterest)

/** Returns a page of active feeds in the order of their channels and ids. */
export const pageFeeds = (db: Reads, tenantId: string, after: InChannel, limit: number) =>
  db.rows<RoutedFeedRow>(
    `${FEED} where f.tenant_id = ? and (f.channel_id, f.id) > (?, ?) and f.active = 1
      order by f.channel_id, f.id limit ?`,
    [tenantId, after.channel_id, after.id, limit],
  )

/** Returns those of the given feeds that are active. Locks nothing. */
export const readRoutedFeeds = async (db: Reads, tenantId: string, ids: string[]): Promise<Subscription[]> =>
  (
    await db.rows<RoutedFeedRow>(`${FEED} where f.tenant_id = ? and f.active = 1 and ${db.dialect.inList('f.id')}`, [
      tenantId,
      db.dialect.list(ids),
    ])
  ).map(fromFeed)

/** Returns a page of members in the order of their channels and ids. */
export const pageMembers = (db: Reads, tenantId: string, after: InChannel, limit: number) =>
  db.rows<RoutedMemberRow>(
    `select channel_id, id, participant_id from channel_members
      where tenant_id = ? and (channel_id, id) > (?, ?) order by channel_id, id limit ?`,
    [tenantId, after.channel_id, after.id, limit],
  )

/** The same of the given channels alone. */
export const pageMembersOf = (db: Reads, tenantId: string, channelIds: string[], after: InChannel, limit: number) =>
  db.rows<RoutedMemberRow>(
    `select channel_id, id, participant_id from channel_members
      where tenant_id = ? and ${db.dialect.inList('channel_id')} and (channel_id, id) > (?, ?)
      order by channel_id, id limit ?`,
    [tenantId, db.dialect.list(channelIds), after.channel_id, after.id, limit],
  )

export interface AgentState {
  id: string
  status: 'active' | 'inactive'
  paused: number
}

const AGENTS = 'select id, status, paused from agents where tenant_id = ?'

/**
 * Returns the agents that are inactive or paused, each kind by its own index. An agent that is both is returned twice.
 * (Rejected: one query with `or`, for which SQLite scans all agents of the tenant.)
 */
export const readInactiveOrPaused = (db: Reads, tenantId: string) =>
  db.rows<AgentState>(`${AGENTS} and status = 'inactive' union all ${AGENTS} and paused = 1`, [tenantId, tenantId])

/** Returns those of the given agents that are inactive or paused. */
export const readInactiveOrPausedAmong = (db: Reads, tenantId: string, ids: string[]) =>
  db.rows<AgentState>(`${AGENTS} and (status = 'inactive' or paused = 1) and ${db.dialect.inList('id')}`, [
    tenantId,
    db.dialect.list(ids),
  ])

/** Returns the names that webhooks and connectors of the tenant publish under. */
export const readSources = (db: Reads, tenantId: string) =>
  db.rows<{ source: string }>(
    'select source from webhooks where tenant_id = ? union select source from connectors where tenant_id = ?',
    [tenantId, tenantId],
  )

/** How old changes are purged. A table that is older than the remaining changes is loaded completely. */
export const AGING_CHANGES: Aging = { table: 'routing_changes', key: ['version'], age: 'changed_at' }
