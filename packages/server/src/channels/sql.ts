// The rows of channels, their members and their feeds. Every query names the tenant.
import type { Channel, ChannelType, Feed, Member, MemberRole, ParticipantType } from '@sensorium/contract'
import { iso } from '../kernel/clock.ts'
import { one, type Db, type Reads, type Value } from '../store/db.ts'
import type { Participant } from './rules.ts'

export interface ChannelRow {
  tenant_id: string
  id: string
  name: string
  description: string | null
  type: ChannelType
  created_by_type: ParticipantType
  created_by_id: string
  external_id: string | null
  created_at: number
  updated_at: number
}

export interface MemberRow {
  tenant_id: string
  channel_id: string
  id: string
  participant_type: ParticipantType
  participant_id: string
  role: MemberRole
  joined_at: number
}

export interface FeedRow {
  tenant_id: string
  channel_id: string
  id: string
  event_type_glob: string
  filter_expression: string | null
  active: number
  created_at: number
}

export const shownChannel = (row: ChannelRow): Channel => ({
  id: row.id,
  tenant_id: row.tenant_id,
  ...(row.external_id === null ? {} : { external_id: row.external_id }),
  name: row.name,
  description: row.description,
  type: row.type,
  created_by_type: row.created_by_type,
  created_by_id: row.created_by_id,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})

export const shownMember = (row: MemberRow): Member => ({
  id: row.id,
  channel_id: row.channel_id,
  participant_type: row.participant_type,
  participant_id: row.participant_id,
  role: row.role,
  joined_at: iso(row.joined_at),
})

export const shownFeed = (row: FeedRow): Feed => ({
  id: row.id,
  channel_id: row.channel_id,
  event_type_glob: row.event_type_glob,
  filter_expression: row.filter_expression,
  active: row.active === 1,
  created_at: iso(row.created_at),
})

const CHANNEL =
  'tenant_id, id, name, description, type, created_by_type, created_by_id, external_id, created_at, updated_at'
const MEMBER = 'tenant_id, channel_id, id, participant_type, participant_id, role, joined_at'
const FEED = 'tenant_id, channel_id, id, event_type_glob, filter_expression, active, created_at'

/**
 * Inserts unless the external id is taken. Returns how many rows were written. On PostgreSQL, waits for a competing
 * insert.
 */
export const insertChannel = (db: Db, row: ChannelRow): Promise<number> =>
  db.run(`insert into channels (${CHANNEL}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`, [
    row.tenant_id,
    row.id,
    row.name,
    row.description,
    row.type,
    row.created_by_type,
    row.created_by_id,
    row.external_id,
    row.created_at,
    row.updated_at,
  ])

/** Returns how many channels there are that somebody created, counting no further than `most`. Locks nothing. */
export async function countCreated(db: Db, tenantId: string, creatorId: string, most: number): Promise<number> {
  const count = await one<{ n: number }>(
    db,
    `select count(*) as n from
       (select 1 from channels where tenant_id = ? and created_by_id = ? limit ?) as created`,
    [tenantId, creatorId, most],
  )
  return count?.n ?? 0
}

/** Writes the fields of a channel that can change. */
export const saveChannel = (db: Db, row: ChannelRow): Promise<number> =>
  db.run('update channels set name = ?, description = ?, updated_at = ? where tenant_id = ? and id = ?', [
    row.name,
    row.description,
    row.updated_at,
    row.tenant_id,
    row.id,
  ])

/** Returns the channel with that external id, and locks it against every other change until the transaction ends. */
export const lockChannelByExternalId = (db: Db, tenantId: string, externalId: string) =>
  one<ChannelRow>(
    db,
    `select ${CHANNEL} from channels where tenant_id = ? and external_id = ? ${db.dialect.forUpdate}`,
    [tenantId, externalId],
  )

/** Returns the channel. Locks nothing. */
export const findChannel = (db: Db, tenantId: string, id: string) =>
  one<ChannelRow>(db, `select ${CHANNEL} from channels where tenant_id = ? and id = ?`, [tenantId, id])

/** Returns which of the ids are channels of the tenant, with their types. */
export const readExistingChannels = (db: Reads, tenantId: string, ids: string[]) =>
  db.rows<{ id: string; type: ChannelType }>(
    `select id, type from channels where tenant_id = ? and ${db.dialect.inList('id')}`,
    [tenantId, db.dialect.list(ids)],
  )

/** Returns the channel, and locks it against every other change of its members until the transaction ends. */
export const lockChannel = (db: Db, tenantId: string, id: string) =>
  one<ChannelRow>(db, `select ${CHANNEL} from channels where tenant_id = ? and id = ? ${db.dialect.forUpdate}`, [
    tenantId,
    id,
  ])

interface Page {
  rows: ChannelRow[]
  total: number
}

/** Returns a page of all channels of the tenant, newest first. */
export async function pageAllChannels(db: Db, tenantId: string, offset: number, limit: number): Promise<Page> {
  const rows = await db.rows<ChannelRow>(
    `select ${CHANNEL} from channels where tenant_id = ? order by id desc limit ? offset ?`,
    [tenantId, limit, offset],
  )
  const count = await one<{ n: number }>(db, 'select count(*) as n from channels where tenant_id = ?', [tenantId])
  return { rows, total: count?.n ?? 0 }
}

// Two lists that do not overlap, each read from an index, so that the private channels of others cost nothing.
const OPEN = `from channels where tenant_id = ? and type = 'open'`
// A subquery rather than a join keeps SQLite from scanning all channels of the tenant. A participant's id alone is
// enough: it implies the type.
const OWN = `from channels where tenant_id = ? and type <> 'open'
  and id in (select channel_id from channel_members where tenant_id = ? and participant_id = ?)`

/** Returns a page of the open channels and those that the participant is a member of, newest first. */
export async function pageSeenChannels(
  db: Db,
  tenantId: string,
  participantId: string,
  offset: number,
  limit: number,
): Promise<Page> {
  const values: Value[] = [tenantId, tenantId, tenantId, participantId]
  const rows = await db.rows<ChannelRow>(
    `select ${CHANNEL} ${OPEN} union all select ${CHANNEL} ${OWN} order by id desc limit ? offset ?`,
    [...values, limit, offset],
  )
  const count = await one<{ n: number }>(db, `select (select count(*) ${OPEN}) + (select count(*) ${OWN}) as n`, values)
  return { rows, total: count?.n ?? 0 }
}

/** Returns which of these channels the participant is a member of. */
export async function listJoined(
  db: Db,
  tenantId: string,
  participantId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.rows<{ channel_id: string }>(
    `select channel_id from channel_members
      where tenant_id = ? and participant_id = ? and ${db.dialect.inList('channel_id')}`,
    [tenantId, participantId, db.dialect.list(ids)],
  )
  return new Set(rows.map(({ channel_id }) => channel_id))
}

/** Inserts unless the participant is already a member. Returns how many rows were written. */
export const insertMember = (db: Db, row: MemberRow): Promise<number> =>
  db.run(
    `insert into channel_members (${MEMBER}) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (tenant_id, channel_id, participant_type, participant_id) do nothing`,
    [row.tenant_id, row.channel_id, row.id, row.participant_type, row.participant_id, row.role, row.joined_at],
  )

/** Returns the participant as a member of the channel. Locks nothing. */
export const findMember = (db: Db, tenantId: string, channelId: string, { type, id }: Participant) =>
  one<MemberRow>(
    db,
    `select ${MEMBER} from channel_members
      where tenant_id = ? and channel_id = ? and participant_type = ? and participant_id = ?`,
    [tenantId, channelId, type, id],
  )

/** Returns up to `most` members of a channel, newest first, that follow `last`. */
export const pageMemberRows = (db: Db, tenantId: string, channelId: string, last: string | null, most: number) =>
  db.rows<MemberRow>(
    `select ${MEMBER} from channel_members where tenant_id = ? and channel_id = ?${last === null ? '' : ' and id < ?'}
      order by id desc limit ?`,
    [tenantId, channelId, ...(last === null ? [] : [last]), most],
  )

/** Returns how many members a channel has. Locks nothing. */
export async function countMembers(db: Db, tenantId: string, channelId: string): Promise<number> {
  const count = await one<{ n: number }>(
    db,
    'select count(*) as n from channel_members where tenant_id = ? and channel_id = ?',
    [tenantId, channelId],
  )
  return count?.n ?? 0
}

/** Returns how many of them own it. Locks nothing: the caller holds the channel, or two owners could leave at once. */
export async function countOwners(db: Db, tenantId: string, channelId: string): Promise<number> {
  const count = await one<{ n: number }>(
    db,
    `select count(*) as n from channel_members where tenant_id = ? and channel_id = ? and role = 'owner'`,
    [tenantId, channelId],
  )
  return count?.n ?? 0
}

/** Ends a membership, and returns how many rows were deleted. */
export const deleteMember = (db: Db, tenantId: string, channelId: string, id: string): Promise<number> =>
  db.run('delete from channel_members where tenant_id = ? and channel_id = ? and id = ?', [tenantId, channelId, id])

/** Adds a feed. */
export const insertFeed = (db: Db, row: FeedRow): Promise<number> =>
  db.run(`insert into channel_feeds (${FEED}) values (?, ?, ?, ?, ?, ?, ?)`, [
    row.tenant_id,
    row.channel_id,
    row.id,
    row.event_type_glob,
    row.filter_expression,
    row.active,
    row.created_at,
  ])

/** Returns the feed. Locks nothing. */
export const findFeed = (db: Db, tenantId: string, channelId: string, id: string) =>
  one<FeedRow>(db, `select ${FEED} from channel_feeds where tenant_id = ? and channel_id = ? and id = ?`, [
    tenantId,
    channelId,
    id,
  ])

/** Returns the ids of the feeds of a channel, and not their filters, which may be megabytes. */
export const feedIds = (db: Db, tenantId: string, channelId: string) =>
  db.rows<{ id: string }>('select id from channel_feeds where tenant_id = ? and channel_id = ?', [tenantId, channelId])

/** Returns up to `most` feeds of a channel, newest first, that follow `last`. */
export const pageFeedRows = (db: Db, tenantId: string, channelId: string, last: string | null, most: number) =>
  db.rows<FeedRow>(
    `select ${FEED} from channel_feeds where tenant_id = ? and channel_id = ?${last === null ? '' : ' and id < ?'}
      order by id desc limit ?`,
    [tenantId, channelId, ...(last === null ? [] : [last]), most],
  )

/** Returns how many feeds a channel has, and the bytes of their filters without reading these. Locks nothing. */
export async function measureFeeds(
  db: Db,
  tenantId: string,
  channelId: string,
): Promise<{ feeds: number; bytes: number }> {
  const found = await one<{ feeds: number; bytes: number | null }>(
    db,
    `select count(*) as feeds, cast(sum(octet_length(filter_expression)) as bigint) as bytes
       from channel_feeds where tenant_id = ? and channel_id = ?`,
    [tenantId, channelId],
  )
  return { feeds: found?.feeds ?? 0, bytes: found?.bytes ?? 0 }
}

/** Deletes a feed. A second call changes nothing. */
export const deleteFeedRow = (db: Db, tenantId: string, channelId: string, id: string): Promise<number> =>
  db.run('delete from channel_feeds where tenant_id = ? and channel_id = ? and id = ?', [tenantId, channelId, id])

/** Deletes a channel with its members and feeds. */
export async function deleteChannelRows(db: Db, tenantId: string, id: string): Promise<void> {
  await db.run('delete from channel_feeds where tenant_id = ? and channel_id = ?', [tenantId, id])
  await db.run('delete from channel_members where tenant_id = ? and channel_id = ?', [tenantId, id])
  await db.run('delete from channels where tenant_id = ? and id = ?', [tenantId, id])
}
