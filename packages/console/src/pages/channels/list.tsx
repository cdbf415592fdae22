import type { Channel, ChannelList } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAgents } from '../../api/agent-names.ts'
import { useRows } from '../../api/calls.ts'
import { PlusIcon } from '../../components/icons.tsx'
import { PageFrame } from '../../components/page.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Segments } from '../../components/segments.tsx'
import { Empty, Failed, Loading } from '../../components/states.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
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

const CREATE = `curl ${location.origin}/v1/channels -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' -d '{"name":"Incidents","type":"open"}'`

function useColumns(): readonly Column<Channel>[] {
  const agents = useAgents()
  return useMemo(
    () => [
      { name: 'Name', width: 'minmax(0, 1.4fr)', cell: ({ name }) => <strong>{name}</strong> },
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
        cell: ({ created_by_type, created_by_id }) =>
          created_by_type === 'org_admin' ? 'Org admin' : (agents.get(created_by_id)?.name ?? created_by_id),
      },
      { name: 'Created', width: '100px', right: true, cell: ({ created_at }) => <Time at={created_at} /> },
    ],
    [agents],
  )
}

export function ChannelsPage() {
  const { type, search = '', new: isNew } = route.useSearch()
  const navigate = route.useNavigate()
  const mayCreate = useSession().can('channel:write')
  const columns = useColumns()
  const known = TYPES.find(({ value }) => value === type)?.value ?? 'all'
  const list = useRows('listChannels', {}, channelsOf, { every: 15_000 })
  const shown = useMemo(() => {
    const typed = search.toLowerCase()
    return list.rows.filter(
      (channel) =>
        (known === 'all' || channel.type === known) &&
        (channel.name.toLowerCase().includes(typed) || channel.id.includes(typed)),
    )
  }, [list.rows, search, known])
  const set = (change: { type?: string; search?: string; new?: string }): void =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  useShortcut('c', 'Create a channel', () => set({ new: 'channel' }), mayCreate)
  const isFiltered = search !== '' || known !== 'all'

  return (
    <PageFrame
      title="Channels"
      full
      actions={
        mayCreate ? (
          <button type="button" className="button primary" onClick={() => set({ new: 'channel' })}>
            <PlusIcon /> Create
          </button>
        ) : undefined
      }
    >
      <div className="filters">
        <SearchBox label="Filter channels" value={search} onChange={(text) => set({ search: text })} />
        <Segments label="Type" value={known} options={TYPES} onChange={(value) => set({ type: value })} />
      </div>
      {list.error !== null && list.rows.length === 0 ? (
        <Failed error={list.error} />
      ) : list.isPending ? (
        <Loading lines={8} />
      ) : (
        <Table
          label="Channels"
          fill
          columns={columns}
          rows={shown}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/channels/$id', params: { id } })}
          hasMore={list.hasMore}
          more={list.more}
          foot={
            <span className="number">
              {isFiltered ? `${shown.length} of ${list.total} channels` : `${list.total.toLocaleString()} channels`}
            </span>
          }
          empty={
            isFiltered ? (
              <Empty title="No channel fits this filter" />
            ) : (
              <Empty title="No channel yet" command={CREATE}>
                A channel brings events to all of its members: what its feeds match, and what is posted into it. Create
                one here or from a shell, with a token in TOKEN.
              </Empty>
            )
          }
        />
      )}
      {isNew === 'channel' && mayCreate ? <CreateChannel onClose={() => set({ new: '' })} /> : null}
    </PageFrame>
  )
}
