// What a session may do in a channel, by the rules of the service: an org-admin acts as an owner of every channel. The
// service may still refuse, for example to remove the last owner.
import type { Channel, Member } from '@sensorium/client'
import type { Session } from '../../session/session.ts'

type Who = Pick<Session, 'kind' | 'can' | 'isSelf'>

interface Powers {
  /** The session's own membership of the channel. */
  own: Member | null
  join: boolean
  addFeed: boolean
  deleteFeed: boolean
  deleteChannel: boolean
  /** The roles that the session may give to others. */
  gives: readonly Member['role'][]
  removes(member: Member): boolean
}

const NONE: Omit<Powers, 'own'> = {
  join: false,
  addFeed: false,
  deleteFeed: false,
  deleteChannel: false,
  gives: [],
  removes: () => false,
}

export function powersOf({ kind, can, isSelf }: Who, channel: Channel, members: readonly Member[]): Powers {
  const own =
    members.find(({ participant_type, participant_id }) => participant_type === 'agent' && isSelf(participant_id)) ??
    null
  if (!can('channel:write')) return { ...NONE, own }
  const role = kind === 'org_admin' ? 'owner' : (own?.role ?? null)
  const manages = role === 'owner' || role === 'admin'
  return {
    own,
    join: kind === 'agent' && channel.type === 'open' && own === null,
    addFeed: manages || (channel.type === 'open' && own !== null),
    deleteFeed: manages,
    deleteChannel: role === 'owner',
    gives: role === 'owner' ? ['member', 'admin', 'owner'] : manages ? ['member', 'admin'] : [],
    removes: (member) => (manages && (member.role !== 'owner' || role === 'owner')) || member.id === own?.id,
  }
}
