// Decides who may do what in a channel. Pure: each function returns a refusal, or null if the action is allowed.
//
// An org-admin acts with the powers of an owner in every channel of its tenant, member or not.
import { DIRECT_MEMBERS, type ChannelType, type MemberRole, type ParticipantType } from '@sensorium/contract'

export interface Participant {
  type: ParticipantType
  id: string
}

/** The caller with its role in the channel, or null if it is not a member. */
export interface ChannelCaller extends Participant {
  role: MemberRole | null
}

/** A participant that is, or is to become, a member. */
export interface Membership extends Participant {
  role: MemberRole
}

export interface ChannelRefusal {
  rule: 'role_required' | 'last_owner' | 'direct_channel_full'
  message: string
}

const isSame = (a: Participant, b: Participant): boolean => a.type === b.type && a.id === b.id

/** Returns the role that a caller acts with. */
const powerOf = (caller: ChannelCaller): MemberRole | null => (caller.type === 'org_admin' ? 'owner' : caller.role)

const isManager = (caller: ChannelCaller): boolean => powerOf(caller) === 'owner' || powerOf(caller) === 'admin'

/** An owner may add and remove members of every role, an admin all but owners. */
const mayManageRole = (caller: ChannelCaller, role: MemberRole): boolean =>
  isManager(caller) && (role !== 'owner' || powerOf(caller) === 'owner')

const roleRequired = (message: string): ChannelRefusal => ({ rule: 'role_required', message })

export const isChannelVisible = (channel: ChannelType, caller: ChannelCaller): boolean =>
  channel === 'open' || caller.type === 'org_admin' || caller.role !== null

export function refuseAdding(channel: ChannelType, caller: ChannelCaller, wanted: Membership): ChannelRefusal | null {
  if (mayManageRole(caller, wanted.role)) return null
  const joins = channel === 'open' && isSame(caller, wanted)
  if (joins && wanted.role === 'member') return null
  if (joins)
    return roleRequired('Whoever joins an open channel becomes a plain member; only an owner or admin gives more')
  return roleRequired(
    wanted.role === 'owner' ? 'Only an owner makes an owner' : 'Only an owner or admin of the channel adds others',
  )
}

/** `owners` is the number of owners of the channel, including one that is to be removed. */
export function refuseRemoving(caller: ChannelCaller, member: Membership, owners: number): ChannelRefusal | null {
  if (!isSame(caller, member) && !mayManageRole(caller, member.role)) {
    const text =
      member.role === 'owner'
        ? 'Only an owner removes an owner'
        : 'Only an owner or admin of the channel removes others'
    return roleRequired(text)
  }
  if (member.role !== 'owner' || owners > 1) return null
  return { rule: 'last_owner', message: 'The last owner stays in the channel; make another one first' }
}

/** `members` is the number of members of the channel, including the new one. */
export function refuseTooManyMembers(channel: ChannelType, members: number): ChannelRefusal | null {
  if (channel !== 'direct' || members <= DIRECT_MEMBERS) return null
  return { rule: 'direct_channel_full', message: `A direct channel has at most ${DIRECT_MEMBERS} members` }
}

export function refuseAddingFeed(channel: ChannelType, caller: ChannelCaller): ChannelRefusal | null {
  if (isManager(caller)) return null
  if (channel !== 'open') return roleRequired('Only an owner or admin of the channel adds feeds')
  return caller.role === null ? roleRequired('Only a member of the channel adds feeds') : null
}

export const refuseChanging = (caller: ChannelCaller): ChannelRefusal | null =>
  isManager(caller) ? null : roleRequired('Only an owner or admin of the channel changes it')

export const refuseDeletingFeed = (caller: ChannelCaller): ChannelRefusal | null =>
  isManager(caller) ? null : roleRequired('Only an owner or admin of the channel deletes feeds')

export const refuseDeleting = (caller: ChannelCaller): ChannelRefusal | null =>
  powerOf(caller) === 'owner' ? null : roleRequired('Only an owner of the channel deletes it')
