// The mailboxes that wait longest. Each agent is asked, so only the newest of a large tenant are looked at.
import type { Agent, Queue } from '@sensorium/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Badge } from '../../components/badge.tsx'
import { Panel } from '../../components/panel.tsx'
import { Empty, Reply } from '../../components/states.tsx'
import type { Column } from '../../components/column.ts'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'

interface Mailbox {
  agent: Agent
  queue: Queue
}

const LOOKED_AT = 50
const SHOWN = 6
const EVERY_MS = 10_000

const COLUMNS: readonly Column<Mailbox>[] = [
  { name: 'Agent', width: 'minmax(0, 2fr)', cell: ({ agent }) => <strong>{agent.name}</strong> },
  { name: 'Waiting', width: '70px', right: true, cell: ({ queue }) => queue.pending.toLocaleString() },
  { name: 'Leased', width: '70px', right: true, wideOnly: true, cell: ({ queue }) => queue.leased.toLocaleString() },
  {
    name: 'Dead',
    width: '60px',
    right: true,
    cell: ({ queue }) => (queue.dead_lettered > 0 ? <Badge tone="bad">{queue.dead_lettered}</Badge> : '0'),
  },
  { name: 'Oldest', width: '96px', right: true, cell: ({ queue }) => <Time at={queue.oldest_pending_at} /> },
]

const age = ({ queue }: Mailbox): number =>
  queue.oldest_pending_at === null ? Number.POSITIVE_INFINITY : Date.parse(queue.oldest_pending_at)

export function useMailboxes() {
  const { client } = useSession()
  return useQuery({
    queryKey: ['getQueue', 'slowest'],
    refetchInterval: EVERY_MS,
    queryFn: async ({ signal }): Promise<Mailbox[]> => {
      const { agents } = await client.agents.list({ status: 'active', limit: LOOKED_AT }, { signal })
      return Promise.all(
        agents.map(async (agent) => ({ agent, queue: await client.agents.queue(agent.id, { signal }) })),
      )
    },
  })
}

export function Mailboxes() {
  const navigate = useNavigate()
  const mailboxes = useMailboxes()
  return (
    <Panel title="Slowest mailboxes" flush>
      <Reply of={mailboxes}>
        {(all) => {
          const slowest = all
            .filter(({ queue }) => queue.pending + queue.leased + queue.dead_lettered > 0)
            .sort((a, b) => age(a) - age(b))
            .slice(0, SHOWN)
          return (
            <Table
              label="Slowest mailboxes"
              columns={COLUMNS}
              rows={slowest}
              keyOf={({ agent }: Mailbox) => agent.id}
              onOpen={({ agent }) => void navigate({ to: '/agents/$id', params: { id: agent.id } })}
              empty={<Empty title="Nothing waits">Every delivery was handed out and acknowledged.</Empty>}
            />
          )
        }}
      </Reply>
    </Panel>
  )
}
