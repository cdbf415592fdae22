// Lists the channels that a caller sees, newest first: an agent sees the open ones and its own, an org-admin all.
import type { Channel } from '@sensorium/contract'
import { isOrgAdmin, type Principal } from '../auth/principal.ts'
import type { Db } from '../store/db.ts'
import { pageAllChannels, pageSeenChannels, shownChannel } from './sql.ts'

export async function listChannels(
  db: Db,
  principal: Principal,
  { offset = 0, limit = 50 }: { offset?: number; limit?: number },
): Promise<{ channels: Channel[]; total: number }> {
  const { rows, total } = isOrgAdmin(principal)
    ? await pageAllChannels(db, principal.tenantId, offset, limit)
    : await pageSeenChannels(db, principal.tenantId, principal.id, offset, limit)
  return { channels: rows.map(shownChannel), total }
}
