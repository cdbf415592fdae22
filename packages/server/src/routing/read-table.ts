// Fills a tenant's routing table from the store, and brings it up to date with later changes.
import { pagesOf } from '../kernel/row-pages.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import type { Reads, Store } from '../store/db.ts'
import {
  fromFeed,
  fromInterest,
  pageFeeds,
  pageInterests,
  pageMembers,
  pageMembersOf,
  readChanges,
  readRoutedFeeds,
  readInactiveOrPaused,
  readInactiveOrPausedAmong,
  readRoutedInterests,
  readSources,
  readRoutingVersions,
  type AgentState,
  type Change,
  type RoutedFeedRow,
  type RoutedInterestRow,
  type RoutedMemberRow,
} from './sql.ts'
import type { RoutingTable, Subscription } from './table.ts'

/**
 * Rows of a page. Of subscriptions with long filters it has fewer: SQLite takes 10 ms for a megabyte that is not ASCII.
 * With pages of 100 for all, a million subscriptions took PostgreSQL 28 s instead of 7.
 */
const PAGE = { most: 1_000, least: 100, characters: 200_000 }
const MAX_CHANGES = 10_000

/** Returns how many subscriptions to read next, by those that were read last. */
function nextPage(filters: readonly (string | null)[]): number {
  let characters = 1
  for (const filter of filters) characters += filter?.length ?? 0
  const fitting = Math.floor((PAGE.characters * Math.max(1, filters.length)) / characters)
  return Math.max(PAGE.least, Math.min(fitting, PAGE.most))
}

const nextRows = (rows: readonly { filter_expression: string | null }[]): number =>
  nextPage(rows.map(({ filter_expression }) => filter_expression))

function addMember(table: RoutingTable, channelId: string, participantId: string): void {
  const known = table.members.get(channelId)
  if (known) known.add(participantId)
  else table.members.set(channelId, new Set([participantId]))
}

/** Adds members to those that the table has: a channel may be read in several pages. */
function addMembers(table: RoutingTable, rows: readonly { channel_id: string; participant_id: string }[]): void {
  for (const { channel_id, participant_id } of rows) addMember(table, channel_id, participant_id)
}

/** Who joined or left: one channel may have 20,000 members, and reading them took a publish 20 ms. */
function applyMemberships(table: RoutingTable, changes: readonly Change[], isRead: (channelId: string) => boolean) {
  for (const { kind, id, joined_id, left_id } of changes) {
    if (kind !== 'channel' || isRead(id)) continue
    if (joined_id !== null) addMember(table, id, joined_id)
    if (left_id !== null) table.members.get(id)?.delete(left_id)
  }
}

function setInactiveAndPaused(table: RoutingTable, agents: readonly AgentState[]): void {
  for (const { id, status, paused } of agents) {
    if (status === 'inactive') table.inactive.add(id)
    if (paused === 1) table.paused.add(id)
  }
}

const BEFORE_ALL = { channel_id: '', id: '' }

/** Reads everything into an empty table. */
export async function fillTable(store: Store, tenantId: string, table: RoutingTable): Promise<RoutingTable> {
  const db = store.outsideTx
  // The version is read first, so that changes made while the rest is read are applied later.
  const [version] = await readRoutingVersions(db, [tenantId])
  table.version = version?.version ?? 0
  table.stamp = version?.stamp ?? ''
  const interests = pagesOf<RoutedInterestRow>(
    (last, most) => pageInterests(db, tenantId, last ?? BEFORE_ALL, most),
    PAGE.least,
    nextRows,
  )
  for await (const page of interests) for (const row of page) table.put(fromInterest(row))
  const feeds = pagesOf<RoutedFeedRow>(
    (last, most) => pageFeeds(db, tenantId, last ?? BEFORE_ALL, most),
    PAGE.least,
    nextRows,
  )
  for await (const page of feeds) for (const row of page) table.put(fromFeed(row))
  const members = pagesOf<RoutedMemberRow>(
    (last, most) => pageMembers(db, tenantId, last ?? BEFORE_ALL, most),
    PAGE.most,
  )
  for await (const page of members) addMembers(table, page)
  setInactiveAndPaused(table, await readInactiveOrPaused(db, tenantId))
  table.sources = new Set((await readSources(db, tenantId)).map(({ source }) => source))
  return table
}

/** Brings the table up to date with all commits. Returns false if that is not possible and it must be filled again. */
export async function refreshTable(store: Store, tenantId: string, table: RoutingTable): Promise<boolean> {
  for (let read = 0, most = PAGE.least; read < MAX_CHANGES; ) {
    const changes = await readChanges(store.outsideTx, tenantId, table.version, most)
    if (changes.length === 0) return isCurrent(store, tenantId, table)
    // If a version was given out twice (its first commit was lost with a server, or the data was restored from a
    // backup), the previous stamp differs.
    if (changes[0]!.version !== table.version + 1 || changes[0]!.previous !== table.stamp) return false
    const found = await apply(store, tenantId, table, changes)
    if (changes.length < most) return true
    read += changes.length
    most = nextPage(found.map(({ filter }) => filter))
    await nextTurn()
  }
  return false
}

async function isCurrent(store: Store, tenantId: string, table: RoutingTable): Promise<boolean> {
  const [committed] = await readRoutingVersions(store.outsideTx, [tenantId])
  return (committed?.version ?? 0) === table.version && (committed?.stamp ?? '') === table.stamp
}

/** Reads all members of channels of which a change names nobody: an older node has written it. */
async function readMembersOf(db: Reads, tenantId: string, channelIds: string[]): Promise<RoutedMemberRow[]> {
  const found: RoutedMemberRow[] = []
  const pages = pagesOf<RoutedMemberRow>(
    (last, most) => pageMembersOf(db, tenantId, channelIds, last ?? BEFORE_ALL, most),
    PAGE.most,
  )
  for await (const page of pages) for (const member of page) found.push(member)
  return found
}

/** Returns the subscriptions that were read. */
async function apply(
  store: Store,
  tenantId: string,
  table: RoutingTable,
  changes: readonly Change[],
): Promise<Subscription[]> {
  const db = store.outsideTx
  const isMembership = (change: Change): boolean => change.joined_id !== null || change.left_id !== null
  const ids = (kind: string): string[] => [
    ...new Set(changes.filter((change) => change.kind === kind && !isMembership(change)).map(({ id }) => id)),
  ]
  const [interests, feeds, channels, agents] = [ids('interest'), ids('feed'), ids('channel'), ids('agent')]
  const foundInterests = interests.length > 0 ? await readRoutedInterests(db, tenantId, interests) : []
  const foundFeeds = feeds.length > 0 ? await readRoutedFeeds(db, tenantId, feeds) : []
  const foundMembers = channels.length > 0 ? await readMembersOf(db, tenantId, channels) : []
  const foundAgents = agents.length > 0 ? await readInactiveOrPausedAmong(db, tenantId, agents) : []
  const foundSources = ids('source').length > 0 ? await readSources(db, tenantId) : null
  // No await from here on, so that no one sees a table that is partly updated.
  for (const id of [...interests, ...feeds]) table.remove(id)
  const found = [...foundInterests, ...foundFeeds]
  for (const subscription of found) table.put(subscription)
  for (const id of channels) table.members.delete(id)
  addMembers(table, foundMembers)
  applyMemberships(table, changes, (id) => channels.includes(id))
  for (const id of agents) {
    table.inactive.delete(id)
    table.paused.delete(id)
  }
  setInactiveAndPaused(table, foundAgents)
  if (foundSources) table.sources = new Set(foundSources.map(({ source }) => source))
  const last = changes.at(-1)!
  table.version = last.version
  table.stamp = last.stamp
  return found
}
