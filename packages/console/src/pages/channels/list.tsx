import type { Channel, ChannelList } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { usePrincipalName } from '../../api/agent-names.ts'
import { useRows } from '../../api/rows.ts'
import { ListPage } from '../../components/list-page.tsx'
import { Segments } from '../../components/segments.tsx'
import { shellCommand } from '../../components/shell-command.ts'
import { Empty } from '../../components/states.tsx'
import type { Column } from '../../components/column.ts'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { useSearchChange } from '../search-params.ts'
import { ChannelTypeBadge } from './badges.tsx'
import { CreateChannel } from './create.tsx'

const route = getRouteApi('/channels')

const TYPES = [
  { value: 'all', label: 'All' },
  { value: 'open', label: 'Open' },
  { value: 'private', label: 'Private' },
  { value: 'direct', label: 'Direct' },
] as const

const channelsOf = ({ channels }: ChannelList): Channel[] => channels
const idOf = ({ id }: Channel): string => id

const CREATE = shellCommand('/v1/channels', '{"name":"Incidents","type":"open"}')

function useColumns(shown: readonly Channel[]): readonly Column<Channel>[] {
  const nameOf = usePrincipalName(shown.map(({ created_by_id }) => created_by_id))
  return useMemo(
    () => [
      { name: 'Name', width: 'minmax(88px, 1.4fr)', cell: ({ name }) => <strong>{name}</strong> },
      { name: 'Type', width: '80px', cell: ({ type }) => <ChannelTypeBadge type={type} /> },
      {
        name: 'About',
        width: 'minmax(0, 2fr)',
        wideOnly: true,
        cell: ({ description }) => <span className="quiet">{description ?? ''}</span>,
      },
      {
        name: 'Made by',
        width: '150px',
        wideOnly: true,
        cell: ({ created_by_id }) => nameOf(created_by_id),
      },
      { name: 'Created', width: '100px', right: true, cell: ({ created_at }) => <Time at={created_at} /> },
    ],
    [nameOf],
  )
}

export function ChannelsPage() {
  const { type, search = '', new: isNew } = route.useSearch()
  const navigate = route.useNavigate()
  const mayCreate = useSession().can('channel:write')
  const known = TYPES.find(({ value }) => value === type)?.value ?? 'all'
  const list = useRows('listChannels', {}, channelsOf, { every: 15_000, whole: search !== '' || known !== 'all' })
  const columns = useColumns(list.rows)
  const fits = useMemo(() => (known === 'all' ? undefined : (channel: Channel) => channel.type === known), [known])
  const set = useSearchChange<{ type?: string; search?: string; new?: string }>()
  return (
    <ListPage
      title="Channels"
      noun="channel"
      list={list}
      columns={columns}
      search={search}
      onSearch={(text) => set({ search: text })}
      keyOf={idOf}
      filters={<Segments label="Type" value={known} options={TYPES} onChange={(value) => set({ type: value })} />}
      fits={fits}
      onOpen={({ id }) => void navigate({ to: '/channels/$id', params: { id } })}
      create={mayCreate ? { verb: 'Create', label: 'Create a channel', run: () => set({ new: 'channel' }) } : undefined}
      empty={
        <Empty title="No channel yet" command={CREATE}>
          A channel brings events to all of its members: what its feeds match, and what is posted into it. Create one
          here, or from a shell with your key in the first line.
        </Empty>
      }
    >
      {isNew === 'channel' && mayCreate ? <CreateChannel onClose={() => set({ new: '' })} /> : null}
    </ListPage>
  )
}
