// Deletes a channel with its members and feeds. What was delivered through it stays in the mailboxes it reached.
import type { Principal } from '../auth/principal.ts'
import { recordRoutingChanges, type RoutingChange } from '../routing/changes.ts'
import type { Db } from '../store/db.ts'
import { holdChannel, throwIfRefused } from './get.ts'
import { refuseDeleting } from './rules.ts'
import { deleteChannelRows, feedIds } from './sql.ts'

export async function deleteChannel(tx: Db, now: number, principal: Principal, id: string): Promise<void> {
  const { tenantId } = principal
  const { channel, caller } = await holdChannel(tx, principal, id)
  throwIfRefused(channel, refuseDeleting(caller))
  const feeds = await feedIds(tx, tenantId, id)
  await deleteChannelRows(tx, tenantId, id)
  const changes: RoutingChange[] = [
    { kind: 'channel', id },
    ...feeds.map((feed) => ({ kind: 'feed' as const, id: feed.id })),
  ]
  await recordRoutingChanges(tx, tenantId, changes, now)
}
