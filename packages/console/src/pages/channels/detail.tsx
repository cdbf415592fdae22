// One channel: its traffic, its members and its feeds.
import type { Channel } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { useCall } from '../../api/calls.ts'
import { usePrincipalName } from '../../api/agent-names.ts'
import { Copyable } from '../../components/copy.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { PageFrame } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { presentData, QueryResult } from '../../components/states.tsx'
import { Moment } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useSearchChange } from '../search-params.ts'
import { PublishForm } from '../events/publish.tsx'
import { ChannelTypeBadge } from './badges.tsx'
import { DeleteChannel } from './delete.tsx'
import { Feeds } from './feeds.tsx'
import { Members } from './members.tsx'
import { Traffic } from './traffic.tsx'

const route = getRouteApi('/channels/$id')

export function ChannelPage() {
  const { id } = route.useParams()
  const { new: isNew } = route.useSearch()
  const change = useSearchChange<{ new: string }>()
  const mayPost = useSession().can('send')
  const channel = useCall('getChannel', { params: { id } })
  const shown = presentData(channel)
  const setPosting = (isOpen: boolean): void => change({ new: isOpen ? 'post' : '' })
  useShortcut('c', 'Post into the channel', () => setPosting(true), mayPost)
  return (
    <PageFrame
      title={shown?.name ?? 'Channel'}
      back={{ to: '/channels', label: 'channels' }}
      beside={shown ? <ChannelTypeBadge type={shown.type} /> : null}
      actions={
        shown ? (
          <>
            <DeleteChannel channel={shown} />
            {mayPost ? (
              <button type="button" className="button primary" onClick={() => setPosting(true)}>
                Post an event
              </button>
            ) : null}
          </>
        ) : undefined
      }
    >
      <QueryResult of={channel} lines={10}>
        {(data) => <ChannelBody channel={data} />}
      </QueryResult>
      {isNew === 'post' && mayPost && shown ? (
        <Overlay title={`Post into ${shown.name}`} kind="drawer" wide onClose={() => setPosting(false)}>
          <PublishForm recipient={id} onClose={() => setPosting(false)} />
        </Overlay>
      ) : null}
    </PageFrame>
  )
}

function ChannelBody({ channel }: { channel: Channel }) {
  const { kind } = useSession()
  const nameOf = usePrincipalName([channel.created_by_id])
  return (
    <div className="columns">
      <div className="stack wide">
        {kind === 'org_admin' ? <Traffic channel={channel} /> : null}
        <Feeds channel={channel} />
      </div>
      <div className="stack wide">
        <Members channel={channel} />
        <Panel title="About">
          <KeyValues
            of={{
              Id: <Copyable text={channel.id} label="Copy the id" />,
              Description: channel.description,
              'External id': channel.external_id ? <Copyable text={channel.external_id} /> : null,
              'Made by': nameOf(channel.created_by_id),
              Created: <Moment at={channel.created_at} />,
              Changed: <Moment at={channel.updated_at} />,
            }}
          />
        </Panel>
      </div>
    </div>
  )
}
