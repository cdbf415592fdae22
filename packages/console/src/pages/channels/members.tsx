import type { Channel, Member, MemberList } from '@sensorium/client'
import { useState } from 'react'
import { usePrincipalName } from '../../api/agent-names.ts'
import { useAction, useCall } from '../../api/calls.ts'
import { ActionButton } from '../../components/action-button.tsx'
import { useByHundred } from '../../components/by-hundred.tsx'
import { DeleteButton } from '../../components/delete-button.tsx'
import { PlusIcon } from '../../components/icons.tsx'
import { Confirm, Overlay } from '../../components/overlay.tsx'
import { Panel } from '../../components/panel.tsx'
import { PrincipalLink } from '../../components/principal-link.tsx'
import { Empty, QueryResult } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { AddMember } from './add-member.tsx'
import { RoleBadge } from './badges.tsx'
import { powersOf } from './powers.ts'

const NONE: readonly Member[] = []
const membersIn = ({ members }: MemberList): number => members.length

export function Members({ channel }: { channel: Channel }) {
  const session = useSession()
  const members = useCall('listMembers', { params: { id: channel.id } }, { every: 15_000, itemsIn: membersIn })
  const { shown, more } = useByHundred(members.data?.members ?? NONE)
  const nameOf = usePrincipalName(shown.map(({ participant_id }) => participant_id))
  const [isAdding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Member | null>(null)
  const powers = powersOf(session, channel, members.data?.members ?? [])
  const refresh = ['listMembers', 'listChannels'] as const
  const join = useAction(
    (client) => client.channels.addMember(channel.id, { participant_type: 'agent', participant_id: session.agent!.id }),
    { refresh, done: `You are in ${channel.name}` },
  )
  const remove = useAction(
    (client, { participant_type, participant_id }: Member) =>
      client.channels.removeMember(channel.id, participant_type, participant_id),
    { refresh, done: `No longer in ${channel.name}` },
  )
  return (
    <Panel
      title="Members"
      count={members.data?.members.length}
      flush
      actions={
        powers.gives.length > 0 ? (
          <button type="button" className="button slim" onClick={() => setAdding(true)}>
            <PlusIcon /> Add
          </button>
        ) : powers.join && members.data ? (
          <ActionButton kind="slim" busy={join.isPending} onClick={() => join.mutate()}>
            Join
          </ActionButton>
        ) : null
      }
    >
      <QueryResult of={members}>
        {({ members: list }) =>
          list.length === 0 ? (
            <Empty title="Nobody is in it">Events of this channel reach nobody until somebody is.</Empty>
          ) : (
            <>
              <ul className="lines">
                {shown.map((member) => (
                  <li key={member.id} className="row">
                    <div className="grow stack tight">
                      <PrincipalLink id={member.participant_id} className="plain cut">
                        <strong>{nameOf(member.participant_id)}</strong>
                      </PrincipalLink>
                      <span className="faint small">
                        since <Time at={member.joined_at} />
                      </span>
                    </div>
                    <RoleBadge role={member.role} />
                    {powers.removes(member) ? (
                      <DeleteButton
                        label={
                          member.id === powers.own?.id ? 'Leave the channel' : `Remove ${nameOf(member.participant_id)}`
                        }
                        onClick={() => setLeaving(member)}
                      />
                    ) : null}
                  </li>
                ))}
              </ul>
              {more}
            </>
          )
        }
      </QueryResult>
      {isAdding ? (
        <Overlay title={`Add to ${channel.name}`} onClose={() => setAdding(false)}>
          <AddMember
            channel={channel}
            roles={powers.gives}
            members={members.data?.members ?? []}
            onClose={() => setAdding(false)}
          />
        </Overlay>
      ) : null}
      {leaving === null ? null : (
        <Confirm
          title={leaving.id === powers.own?.id ? `Leave ${channel.name}?` : `Remove ${nameOf(leaving.participant_id)}?`}
          verb={leaving.id === powers.own?.id ? 'Leave' : 'Remove'}
          danger
          busy={remove.isPending}
          onConfirm={() => remove.mutate(leaving, { onSettled: () => setLeaving(null) })}
          onClose={() => setLeaving(null)}
        >
          Events of this channel no longer reach {nameOf(leaving.participant_id)}. What was delivered already stays in
          the mailbox.
        </Confirm>
      )}
    </Panel>
  )
}
