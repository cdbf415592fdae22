// Feeds: the events that a channel delivers to its members.
import { isId, type Feed, type FeedCreate, type Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { notFound, ruleBroken } from '../kernel/failure.ts'
import { pagesOf } from '../kernel/row-pages.ts'
import { recordRoutingChange } from '../routing/changes.ts'
import { checkFilter } from '../routing/check-filter.ts'
import type { Db } from '../store/db.ts'
import type { Quotas } from '../tenants/quotas.ts'
import type { ChannelTools } from './create.ts'
import { holdChannel, throwIfRefused, requireChannel } from './get.ts'
import { refuseAddingFeed, refuseDeletingFeed } from './rules.ts'
import { deleteFeedRow, findFeed, insertFeed, measureFeeds, pageFeedRows, shownFeed, type FeedRow } from './sql.ts'

const MAX_FEEDS = 1_000
/**
 * Of the filters of a channel together, whatever each may have: every node that publishes keeps them in memory. Most
 * have less than a hundred characters.
 */
const MAX_FILTER_BYTES = 1_048_576

export interface FeedTools extends ChannelTools {
  quotas: Quotas
}

/** Yields the feeds of a channel in pages, newest first. */
export async function* feedPages(db: Db, principal: Principal, channelId: string): AsyncGenerator<FeedRow[]> {
  await requireChannel(db, principal, channelId)
  yield* pagesOf<FeedRow>((last, most) => pageFeedRows(db, principal.tenantId, channelId, last?.id ?? null, most))
}

/** Checks the request itself. Outside of the transaction, which would hold up other writers while a filter compiles. */
export function checkFeed(wanted: Static<typeof FeedCreate>): void {
  checkFilter('filter_expression', wanted.filter_expression)
}

/** Creates a feed that has been checked. */
export async function createFeed(
  tx: Db,
  { makeId, now, quotas }: FeedTools,
  principal: Principal,
  channelId: string,
  wanted: Static<typeof FeedCreate>,
): Promise<Feed> {
  const { channel, caller } = await holdChannel(tx, principal, channelId)
  throwIfRefused(channel, refuseAddingFeed(channel.type, caller))
  const { feeds, bytes } = await measureFeeds(tx, principal.tenantId, channelId)
  if (feeds >= MAX_FEEDS)
    throw ruleBroken('too_many_feeds', `A channel has at most ${MAX_FEEDS} feeds`, { channel_id: channelId })
  if (bytes + Buffer.byteLength(wanted.filter_expression ?? '') > MAX_FILTER_BYTES)
    throw ruleBroken('filters_too_long', `The filters of a channel have at most ${MAX_FILTER_BYTES} bytes together`, {
      channel_id: channelId,
    })
  await quotas.makeRoom(tx, principal.tenantId, 'interests')
  const row: FeedRow = {
    tenant_id: principal.tenantId,
    channel_id: channelId,
    id: makeId('feed'),
    event_type_glob: wanted.event_type_glob,
    filter_expression: wanted.filter_expression ?? null,
    active: 1,
    created_at: now(),
  }
  await insertFeed(tx, row)
  await recordRoutingChange(tx, principal.tenantId, 'feed', row.id, row.created_at)
  return shownFeed(row)
}

export async function deleteFeed(
  tx: Db,
  now: number,
  principal: Principal,
  channelId: string,
  id: string,
): Promise<void> {
  const { tenantId } = principal
  const { channel, caller } = await requireChannel(tx, principal, channelId)
  const feed = isId('feed', id) ? await findFeed(tx, tenantId, channelId, id) : undefined
  if (!feed) throw notFound('feed', id)
  throwIfRefused(channel, refuseDeletingFeed(caller))
  // Another request may have deleted the feed since it was read.
  if ((await deleteFeedRow(tx, tenantId, channelId, id)) === 0) throw notFound('feed', id)
  await recordRoutingChange(tx, tenantId, 'feed', id, now)
}
