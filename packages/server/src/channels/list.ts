// Lists the channels that a caller sees, newest first: an agent sees the open ones and its own, an org-admin all.
import type { ListedChannel } from '@sensorium/contract'
import { isOrgAdmin, type Principal } from '../auth/principal.ts'
import type { Db } from '../store/db.ts'
import { listJoined, pageAllChannels, pageSeenChannels, shownChannel } from './sql.ts'

export async function listChannels(
  db: Db,
  principal: Principal,
  { offset = 0, limit = 50, membership = false }: { offset?: number; limit?: number; membership?: boolean },
): Promise<{ channels: ListedChannel[]; total: number }> {
  const { rows, total } = isOrgAdmin(principal)
    ? await pageAllChannels(db, principal.tenantId, offset, limit)
    : await pageSeenChannels(db, principal.tenantId, principal.id, offset, limit)
  if (!membership) return { channels: rows.map(shownChannel), total }
  const ids = rows.map(({ id }) => id)
  const joined = await listJoined(db, principal.tenantId, principal.id, ids)
  return { channels: rows.map((row) => ({ ...shownChannel(row), member: joined.has(row.id) })), total }
}
