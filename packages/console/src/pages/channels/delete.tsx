import type { Channel } from '@sensorium/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction, useCall } from '../../api/calls.ts'
import { Confirm } from '../../components/overlay.tsx'
import { useSession } from '../../session/session.ts'
import { powersOf } from './powers.ts'

/** The delete button, for owners of the channel and for org-admins; renders nothing for others. */
export function DeleteChannel({ channel }: { channel: Channel }) {
  const session = useSession()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { data } = useCall('listMembers', { params: { id: channel.id } })
  const [isAsking, setAsking] = useState(false)
  const remove = useAction((client) => client.channels.delete(channel.id), {
    refresh: ['listChannels'],
    done: `${channel.name} is deleted`,
  })
  if (!powersOf(session, channel, data?.members ?? []).deleteChannel) return null
  return (
    <>
      <button type="button" className="button danger" onClick={() => setAsking(true)}>
        Delete
      </button>
      {isAsking ? (
        <Confirm
          title={`Delete ${channel.name}?`}
          verb="Delete"
          danger
          busy={remove.isPending}
          onConfirm={() =>
            remove.mutate(undefined, {
              onSuccess: () => {
                void navigate({ to: '/channels' })
                void queries.resetQueries({ queryKey: ['getChannel', { params: { id: channel.id } }] })
              },
              onError: () => setAsking(false),
            })
          }
          onClose={() => setAsking(false)}
        >
          Its members and feeds go with it, and nothing more reaches anybody through it. What was delivered already
          stays in the mailboxes.
        </Confirm>
      ) : null}
    </>
  )
}
