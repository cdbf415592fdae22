// Puts a channel by the id it has in another system: creates it if there is none, and otherwise gives it the name and
// description of the body. A channel keeps its type, because the rules about its members depend on it.
import type { Channel, ChannelCreate, Static } from '@sensorium/contract'
import type { Principal } from '../auth/principal.ts'
import { externalIdOf } from '../kernel/external-id.ts'
import { ruleBroken, taken } from '../kernel/failure.ts'
import type { Db } from '../store/db.ts'
import { createOrFind, type ChannelTools } from './create.ts'
import { throwIfRefused } from './get.ts'
import { isChannelVisible, refuseChanging, type ChannelCaller } from './rules.ts'
import { findMember, saveChannel, shownChannel } from './sql.ts'

interface PutChannel {
  channel: Channel
  made: boolean
}

export async function putChannel(
  tx: Db,
  tools: ChannelTools,
  principal: Principal,
  externalId: string,
  wanted: Static<typeof ChannelCreate>,
): Promise<PutChannel> {
  const external_id = externalIdOf(externalId, wanted)
  const outcome = await createOrFind(tx, tools, principal, { ...wanted, external_id })
  if ('made' in outcome) return { channel: outcome.made, made: true }
  const { found } = outcome
  const { tenantId, kind, id } = principal
  const member = await findMember(tx, tenantId, found.id, { type: kind, id })
  const caller: ChannelCaller = { type: kind, id, role: member?.role ?? null }
  // The error does not name the channel to a caller that may not see it.
  if (!isChannelVisible(found.type, caller)) throw taken('This external id', null)
  throwIfRefused(found, refuseChanging(caller))
  if (wanted.type !== found.type)
    throw ruleBroken('channel_type_fixed', 'A channel keeps its type', { channel_id: found.id })
  const fields = { name: wanted.name, description: wanted.description ?? null }
  if (fields.name === found.name && fields.description === found.description)
    return { channel: shownChannel(found), made: false }
  const changed = { ...found, ...fields, updated_at: tools.now() }
  await saveChannel(tx, changed)
  return { channel: shownChannel(changed), made: false }
}
