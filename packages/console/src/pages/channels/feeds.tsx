import type { Channel, Feed } from '@sensorium/client'
import { useState } from 'react'
import { useAction, useCall } from '../../api/calls.ts'
import { DeleteButton } from '../../components/delete-button.tsx'
import { PlusIcon } from '../../components/icons.tsx'
import { Confirm, Overlay } from '../../components/overlay.tsx'
import { Panel } from '../../components/panel.tsx'
import { Empty, QueryResult } from '../../components/states.tsx'
import { Subscription } from '../../components/subscription.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { NewFeed } from './new-feed.tsx'
import { powersOf } from './powers.ts'

export function Feeds({ channel }: { channel: Channel }) {
  const session = useSession()
  const feeds = useCall('listFeeds', { params: { id: channel.id } })
  const { data: inside } = useCall('listMembers', { params: { id: channel.id } })
  const [isAdding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Feed | null>(null)
  const powers = powersOf(session, channel, inside?.members ?? [])
  const remove = useAction((client, id: string) => client.channels.deleteFeed(channel.id, id), {
    refresh: ['listFeeds'],
    done: 'The feed is gone',
  })
  return (
    <Panel
      title="Feeds"
      count={feeds.data?.feeds.length}
      flush
      actions={
        powers.addFeed ? (
          <button type="button" className="button slim" onClick={() => setAdding(true)}>
            <PlusIcon /> Add a feed
          </button>
        ) : null
      }
    >
      <QueryResult of={feeds}>
        {({ feeds: list }) =>
          list.length === 0 ? (
            <Empty title="No feed">
              A feed brings every event that matches to all members. Without one, only what is posted into the channel
              reaches them.
            </Empty>
          ) : (
            <ul className="lines">
              {list.map((feed) => (
                <li key={feed.id} className="row">
                  <Subscription type={feed.event_type_glob} filter={feed.filter_expression} />
                  <span className="faint small">
                    <Time at={feed.created_at} />
                  </span>
                  {powers.deleteFeed ? (
                    <DeleteButton
                      label={`Delete the feed of ${feed.event_type_glob}`}
                      onClick={() => setLeaving(feed)}
                    />
                  ) : null}
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
      {isAdding ? (
        <Overlay title="Add a feed" onClose={() => setAdding(false)}>
          <NewFeed channel={channel} onClose={() => setAdding(false)} />
        </Overlay>
      ) : null}
      {leaving === null ? null : (
        <Confirm
          title="Delete this feed?"
          verb="Delete"
          danger
          busy={remove.isPending}
          onConfirm={() => remove.mutate(leaving.id, { onSettled: () => setLeaving(null) })}
          onClose={() => setLeaving(null)}
        >
          Events of the type <code>{leaving.event_type_glob}</code> no longer reach the members through it. What was
          delivered already stays.
        </Confirm>
      )}
    </Panel>
  )
}
