import type { Agent, AgentList } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { ListPage } from '../../components/list-page.tsx'
import { Segments } from '../../components/segments.tsx'
import { shellCommand } from '../../components/shell-command.ts'
import { Empty } from '../../components/states.tsx'
import type { Column } from '../../components/column.ts'
import { Time } from '../../components/time.tsx'
import { byAge, byBacklog, useMailboxes, type Mailbox } from '../../api/mailboxes.ts'
import { useRows, type Rows } from '../../api/rows.ts'
import { useSession } from '../../session/session.ts'
import { useSearchChange } from '../search-params.ts'
import { AgentStatus, ModeBadge } from './badges.tsx'
import { RegisterAgent } from './register.tsx'

const route = getRouteApi('/agents')

const COLUMNS: readonly Column<Agent>[] = [
  { name: 'Name', width: 'minmax(88px, 2fr)', cell: ({ name }) => <strong>{name}</strong> },
  { name: 'Status', width: '96px', cell: (agent) => <AgentStatus agent={agent} /> },
  { name: 'Delivery', width: '84px', cell: ({ delivery_mode }) => <ModeBadge mode={delivery_mode} /> },
  { name: 'Client', width: '110px', wideOnly: true, cell: ({ client_type }) => client_type },
  { name: 'Id', width: 'minmax(0, 1.6fr)', wideOnly: true, cell: ({ id }) => <code className="quiet">{id}</code> },
  {
    name: 'Registered',
    width: '110px',
    wideOnly: true,
    right: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
]

const WAITING: readonly Column<Mailbox>[] = [
  { name: 'Name', width: 'minmax(88px, 2fr)', cell: ({ name }) => <strong>{name}</strong> },
  { name: 'Waiting', width: '84px', right: true, cell: ({ queue }) => queue.pending.toLocaleString() },
  { name: 'Oldest', width: '96px', right: true, cell: ({ queue }) => <Time at={queue.oldest_pending_at} /> },
  { name: 'Leased', width: '84px', right: true, wideOnly: true, cell: ({ queue }) => queue.leased.toLocaleString() },
  {
    name: 'Dead',
    width: '84px',
    right: true,
    wideOnly: true,
    cell: ({ queue }) => queue.dead_lettered.toLocaleString(),
  },
  {
    name: 'Last poll',
    width: '110px',
    right: true,
    wideOnly: true,
    cell: ({ queue }) => <Time at={queue.last_poll_at} />,
  },
]

/** Returns the mailboxes in an order that the service does not offer. */
function useWaiting(order: 'backlog' | 'oldest' | null): Rows<Mailbox> {
  const { data, error, isPending, refetch } = useMailboxes(order !== null)
  return useMemo(() => {
    const rows = [...(data?.mailboxes ?? [])].sort(order === 'oldest' ? byAge : byBacklog)
    return {
      key: order ?? '',
      total: rows.length,
      rows,
      at: (index) => rows[index],
      first: data,
      isPending,
      isPrevious: false,
      error,
      refetch: () => void refetch(),
      isCutOff: data?.isCutOff ?? false,
      isWhole: true,
      setViewport() {},
    }
  }, [data, error, isPending, refetch, order])
}

const STATUSES = [
  { value: 'all', label: 'All' },
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Inactive' },
] as const
/** For sessions that may see the mailboxes of other agents. */
const ORDERS = [
  { value: 'backlog', label: 'Backlog' },
  { value: 'oldest', label: 'Oldest' },
] as const

const agentsOf = ({ agents }: AgentList): Agent[] => agents
const idOf = ({ id }: Agent): string => id

const REGISTER = shellCommand('/v1/agents', '{"name":"Triage","delivery_mode":"poll","client_type":"claude"}')

export function AgentsPage() {
  const { status, search = '', new: isNew } = route.useSearch()
  const navigate = route.useNavigate()
  const { can } = useSession()
  const order = can('admin') ? (ORDERS.find(({ value }) => value === status)?.value ?? null) : null
  const known = STATUSES.find(({ value }) => value === status)?.value ?? 'all'
  const query = known === 'all' ? {} : { status: known }
  const list = useRows('listAgents', { query }, agentsOf, { every: 15_000, whole: search !== '' })
  const waiting = useWaiting(order)
  const set = useSearchChange<{ status?: string; search?: string; new?: string }>()
  const page = {
    title: 'Agents',
    noun: 'agent',
    search,
    onSearch: (text: string) => set({ search: text }),
    keyOf: idOf,
    filters: (
      <Segments
        label="Status"
        value={order ?? known}
        options={can('admin') ? [...STATUSES, ...ORDERS] : STATUSES}
        onChange={(value) => set({ status: value })}
      />
    ),
    isFiltered: known !== 'all',
    onOpen: ({ id }: Agent) => void navigate({ to: '/agents/$id', params: { id } }),
    create: can('admin')
      ? { verb: 'Register', label: 'Register an agent', run: () => set({ new: 'agent' }) }
      : undefined,
    empty: (
      <Empty title="No agent yet" command={REGISTER}>
        An agent has a mailbox, keys and a memory. Register one here, or from a shell with your key in the first line.
      </Empty>
    ),
    children: isNew === 'agent' && can('admin') ? <RegisterAgent onClose={() => set({ new: '' })} /> : null,
  }
  if (order === null) return <ListPage<Agent> {...page} list={list} columns={COLUMNS} />
  return (
    <ListPage<Mailbox>
      {...page}
      noun="active agent"
      list={waiting}
      cutOffNote=", the newest of more"
      columns={WAITING}
    />
  )
}
