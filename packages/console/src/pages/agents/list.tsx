import type { Agent, AgentList } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { ListPage } from '../../components/list-page.tsx'
import { Segments } from '../../components/segments.tsx'
import { Empty } from '../../components/states.tsx'
import type { Column } from '../../components/column.ts'
import { Time } from '../../components/time.tsx'
import { useRows } from '../../api/rows.ts'
import { useSession } from '../../session/session.ts'
import { AgentStatus, ModeBadge } from './badges.tsx'
import { RegisterAgent } from './register.tsx'

const route = getRouteApi('/agents')

const COLUMNS: readonly Column<Agent>[] = [
  { name: 'Name', width: 'minmax(0, 2fr)', cell: ({ name }) => <strong>{name}</strong> },
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

const STATUSES = [
  { value: 'all', label: 'All' },
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Inactive' },
] as const

const agentsOf = ({ agents }: AgentList): Agent[] => agents
const idOf = ({ id }: Agent): string => id

const REGISTER = `curl ${location.origin}/v1/agents -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"name":"Triage","delivery_mode":"poll","client_type":"claude"}'`

export function AgentsPage() {
  const { status, search = '', new: isNew } = route.useSearch()
  const navigate = route.useNavigate()
  const { can } = useSession()
  const known = STATUSES.find(({ value }) => value === status)?.value ?? 'all'
  const query = known === 'all' ? {} : { status: known }
  const list = useRows('listAgents', { query }, agentsOf, { every: 15_000, whole: search !== '' })
  const set = (change: { status?: string; search?: string; new?: string }): void =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  return (
    <ListPage
      title="Agents"
      noun="agent"
      list={list}
      columns={COLUMNS}
      search={search}
      onSearch={(text) => set({ search: text })}
      keyOf={idOf}
      filters={
        <Segments label="Status" value={known} options={STATUSES} onChange={(value) => set({ status: value })} />
      }
      isFiltered={known !== 'all'}
      onOpen={({ id }) => void navigate({ to: '/agents/$id', params: { id } })}
      create={
        can('admin') ? { verb: 'Register', says: 'Register an agent', run: () => set({ new: 'agent' }) } : undefined
      }
      empty={
        <Empty title="No agent yet" command={REGISTER}>
          An agent has a mailbox, keys and a memory. Register one here or from a shell, with a token in TOKEN.
        </Empty>
      }
    >
      {isNew === 'agent' && can('admin') ? <RegisterAgent onClose={() => set({ new: '' })} /> : null}
    </ListPage>
  )
}
