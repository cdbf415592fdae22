// Joining, adding, leaving, removing. Both changes lock the channel, so that two at once cannot add a third member to a
// direct channel or leave a channel without an owner.
import { PARTICIPANT_TYPES, isId, type Member, type MemberAdd, type Static } from '@sensorium/contract'
import { requireAgent } from '../agents/get.ts'
import type { Principal } from '../auth/principal.ts'
import { notFound, taken } from '../kernel/failure.ts'
import { pagesOf } from '../kernel/row-pages.ts'
import { recordRoutingChanges } from '../routing/changes.ts'
import type { Db } from '../store/db.ts'
import { findOrgAdmin } from '../tenants/sql.ts'
import type { ChannelTools } from './create.ts'
import { holdChannel, throwIfRefused, requireChannel } from './get.ts'
import { refuseAdding, refuseTooManyMembers, refuseRemoving, type Participant } from './rules.ts'
import {
  countMembers,
  countOwners,
  deleteMember,
  findMember,
  insertMember,
  pageMemberRows,
  shownMember,
  type MemberRow,
} from './sql.ts'

/** Yields the members of a channel in pages, newest first. */
export async function* memberPages(db: Db, principal: Principal, channelId: string): AsyncGenerator<MemberRow[]> {
  await requireChannel(db, principal, channelId)
  yield* pagesOf<MemberRow>((last, most) => pageMemberRows(db, principal.tenantId, channelId, last?.id ?? null, most))
}

async function requireParticipant(db: Db, tenantId: string, { type, id }: Participant): Promise<void> {
  if (type === 'agent') await requireAgent(db, tenantId, id)
  else if ((await findOrgAdmin(db, tenantId))?.id !== id) throw notFound('org_admin', id)
}

// Refuses first what does not exist, then what is not allowed: the role, a second membership, a third member of a
// direct channel.
export async function addMember(
  tx: Db,
  { makeId, now }: ChannelTools,
  principal: Principal,
  channelId: string,
  wanted: Static<typeof MemberAdd>,
): Promise<Member> {
  const { tenantId } = principal
  const { channel, caller } = await holdChannel(tx, principal, channelId)
  const place = { type: wanted.participant_type, id: wanted.participant_id, role: wanted.role ?? 'member' }
  await requireParticipant(tx, tenantId, place)
  throwIfRefused(channel, refuseAdding(channel.type, caller, place))

  const row: MemberRow = {
    tenant_id: tenantId,
    channel_id: channelId,
    id: makeId('member'),
    participant_type: place.type,
    participant_id: place.id,
    role: place.role,
    joined_at: now(),
  }
  if ((await insertMember(tx, row)) === 0) {
    throw taken(
      `The place of ${place.id} in this channel`,
      (await findMember(tx, tenantId, channelId, place))?.id ?? null,
    )
  }
  // The count includes the new member; a refusal rolls the insert back.
  if (channel.type === 'direct')
    throwIfRefused(channel, refuseTooManyMembers(channel.type, await countMembers(tx, tenantId, channelId)))
  await recordRoutingChanges(tx, tenantId, [{ kind: 'channel', id: channelId, joinedId: place.id }], row.joined_at)
  return shownMember(row)
}

export async function removeMember(
  tx: Db,
  now: number,
  principal: Principal,
  channelId: string,
  participantType: string,
  participantId: string,
): Promise<void> {
  const { tenantId } = principal
  const { channel, caller } = await holdChannel(tx, principal, channelId)
  const type = PARTICIPANT_TYPES.find((known) => known === participantType)
  const known = type !== undefined && isId(type, participantId)
  const member = known ? await findMember(tx, tenantId, channelId, { type, id: participantId }) : undefined
  if (!member) throw notFound('member', participantId)
  const place = { type: member.participant_type, id: member.participant_id, role: member.role }
  const owners = member.role === 'owner' ? await countOwners(tx, tenantId, channelId) : 0
  throwIfRefused(channel, refuseRemoving(caller, place, owners))
  await deleteMember(tx, tenantId, channelId, member.id)
  await recordRoutingChanges(tx, tenantId, [{ kind: 'channel', id: channelId, leftId: place.id }], now)
}
