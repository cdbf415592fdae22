// The list without a search: newest first. A memory that is gone has no page of its own and opens beside the list.
import type { Memory, MemoryList } from '@sensorium/client'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { usePrincipalName } from '../../api/agent-names.ts'
import { useRows } from '../../api/rows.ts'
import { ListTable } from '../../components/list-table.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { shellCommand } from '../../components/shell-command.ts'
import { Empty } from '../../components/states.tsx'
import type { Column } from '../../components/column.ts'
import { Time } from '../../components/time.tsx'
import { AboutMemory } from './about.tsx'
import { ScopeBadge, TypeBadge } from './badges.tsx'
import { isFiltered, listQuery, type Filters } from './filters.ts'

const memoriesOf = ({ memories }: MemoryList): Memory[] => memories

const REMEMBER = shellCommand(
  '/v1/memories',
  '{"type":"semantic","scope":"institutional","title":"Deploys on Friday fail","content":"Three of four were rolled back."}',
)

const columnsFor = (owner: (id: string) => string): readonly Column<Memory>[] => [
  {
    name: 'Memory',
    width: 'minmax(160px, 3fr)',
    cell: ({ title, content }) => (
      <>
        <strong>{title}</strong> <bdi className="faint">{content.slice(0, 160)}</bdi>
      </>
    ),
  },
  { name: 'Type', width: '92px', wideOnly: true, cell: ({ type }) => <TypeBadge type={type} /> },
  {
    name: 'Scope',
    width: '124px',
    wideOnly: true,
    cell: ({ scope, team_id }) => <ScopeBadge scope={scope} team_id={team_id} />,
  },
  { name: 'Owner', width: 'minmax(0, 120px)', wideOnly: true, cell: ({ agent_id }) => owner(agent_id) },
  {
    name: 'Project',
    width: 'minmax(0, 96px)',
    wideOnly: true,
    cell: ({ project_id }) => project_id ?? <span className="faint">—</span>,
  },
  { name: 'Created', width: '84px', right: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

export function Rows({ filters }: { filters: Filters }) {
  const navigate = useNavigate()
  const [gone, setGone] = useState<Memory | null>(null)
  const query = listQuery(filters)
  const isGone = query.status !== undefined && query.status !== 'active'
  const list = useRows('listMemories', { query }, memoriesOf, { every: 15_000 })
  const owner = usePrincipalName(list.rows.map(({ agent_id }) => agent_id))
  const columns = useMemo(() => columnsFor(owner), [owner])
  return (
    <>
      <ListTable
        label="Memories"
        list={list}
        columns={columns}
        onOpen={(memory) =>
          isGone ? setGone(memory) : void navigate({ to: '/memory/$id', params: { id: memory.id } })
        }
        foot={
          <span className="number" role="status">
            {list.total.toLocaleString()} {list.total === 1 ? 'memory' : 'memories'}
          </span>
        }
        empty={
          isFiltered(filters) ? (
            <Empty title="No memory fits these filters" />
          ) : (
            <Empty title="Nothing is remembered yet" command={REMEMBER}>
              A memory is something an agent keeps: a fact, an episode, a way to do things. Make one here, or from a
              shell with your key in the first line.
            </Empty>
          )
        }
      />
      {gone === null ? null : (
        <Overlay title={gone.title} kind="drawer" onClose={() => setGone(null)}>
          <AboutMemory memory={gone} owner={owner(gone.agent_id)} withContent />
        </Overlay>
      )}
    </>
  )
}
