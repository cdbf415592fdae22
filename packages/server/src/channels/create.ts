// Creates a channel, with its creator as the owner.
import type { Channel, ChannelCreate, Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { ruleBroken, taken } from '../kernel/failure.ts'
import type { MakeId } from '../kernel/ids.ts'
import { recordRoutingChanges } from '../routing/changes.ts'
import type { Db } from '../store/db.ts'
import { isChannelVisible } from './rules.ts'
import {
  countCreated,
  findMember,
  insertChannel,
  insertMember,
  lockChannelByExternalId,
  shownChannel,
  type ChannelRow,
} from './sql.ts'

/** A channel may have a thousand feeds, which every node that publishes keeps in memory. */
const MAX_CREATED = 1_000

export interface ChannelTools {
  makeId: MakeId
  now: () => number
}

/**
 * Refuses an agent that has created too many. An org-admin may create any number, as it may register any number of
 * agents. The lock makes one agent's creations follow each other.
 */
async function refuseTooMany(tx: Db, { tenantId, id, kind }: Principal): Promise<void> {
  if (kind === 'org_admin') return
  await tx.lock([`channels of ${tenantId} ${id}`], 'exclusive')
  if ((await countCreated(tx, tenantId, id, MAX_CREATED + 1)) > MAX_CREATED)
    throw ruleBroken('too_many_channels', `An agent creates at most ${MAX_CREATED} channels`, { agent_id: id })
}

/** Creates the channel. Returns null if its external id is taken. */
async function createIfFree(
  tx: Db,
  { makeId, now }: ChannelTools,
  principal: Principal,
  wanted: Static<typeof ChannelCreate>,
): Promise<Channel | null> {
  const at = now()
  const row: ChannelRow = {
    tenant_id: principal.tenantId,
    id: makeId('channel'),
    name: wanted.name,
    description: wanted.description ?? null,
    type: wanted.type,
    created_by_type: principal.kind,
    created_by_id: principal.id,
    external_id: wanted.external_id ?? null,
    created_at: at,
    updated_at: at,
  }
  if ((await insertChannel(tx, row)) === 0) return null
  await refuseTooMany(tx, principal)
  await insertMember(tx, {
    tenant_id: row.tenant_id,
    channel_id: row.id,
    id: makeId('member'),
    participant_type: principal.kind,
    participant_id: principal.id,
    role: 'owner',
    joined_at: at,
  })
  await recordRoutingChanges(tx, row.tenant_id, [{ kind: 'channel', id: row.id, joinedId: principal.id }], at)
  return shownChannel(row)
}

/** Creates the channel, or finds the one with its external id and locks that against every other change. */
export async function createOrFind(
  tx: Db,
  tools: ChannelTools,
  principal: Principal,
  wanted: Static<typeof ChannelCreate>,
): Promise<{ made: Channel } | { found: ChannelRow }> {
  for (;;) {
    const made = await createIfFree(tx, tools, principal, wanted)
    if (made) return { made }
    const found = await lockChannelByExternalId(tx, principal.tenantId, wanted.external_id!)
    if (found) return { found }
    // The channel was deleted in between, so the id is free again.
  }
}

export async function createChannel(
  tx: Db,
  tools: ChannelTools,
  principal: Principal,
  wanted: Static<typeof ChannelCreate>,
): Promise<Channel> {
  const outcome = await createOrFind(tx, tools, principal, wanted)
  if ('made' in outcome) return outcome.made
  const { found } = outcome
  const { tenantId, kind, id } = principal
  const member = await findMember(tx, tenantId, found.id, { type: kind, id })
  const isSeen = isChannelVisible(found.type, { type: kind, id, role: member?.role ?? null })
  throw taken('This external id', isSeen ? found.id : null)
}
