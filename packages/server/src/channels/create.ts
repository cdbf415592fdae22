// A new channel, with its creator as its owner.
import type { Channel, ChannelCreate, Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import type { MakeId } from '../kernel/ids.ts'
import { recordRoutingChange } from '../routing/changes.ts'
import type { Db } from '../store/db.ts'
import { insertChannel, insertMember, shownChannel, type ChannelRow } from './sql.ts'

export interface ChannelTools {
  makeId: MakeId
  now: () => number
}

export async function createChannel(
  tx: Db,
  { makeId, now }: ChannelTools,
  principal: Principal,
  wanted: Static<typeof ChannelCreate>,
): Promise<Channel> {
  const at = now()
  const row: ChannelRow = {
    tenant_id: principal.tenantId,
    id: makeId('channel'),
    name: wanted.name,
    description: wanted.description ?? null,
    type: wanted.type,
    created_by_type: principal.kind,
    created_by_id: principal.id,
    created_at: at,
    updated_at: at,
  }
  await insertChannel(tx, row)
  await insertMember(tx, {
    tenant_id: row.tenant_id,
    channel_id: row.id,
    id: makeId('member'),
    participant_type: principal.kind,
    participant_id: principal.id,
    role: 'owner',
    joined_at: at,
  })
  await recordRoutingChange(tx, row.tenant_id, 'channel', row.id, at)
  return shownChannel(row)
}
