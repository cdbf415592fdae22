// The mailboxes with the oldest waiting deliveries.
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { byAge, PARTIAL_NOTE, useMailboxes, type Mailbox } from '../../api/mailboxes.ts'
import { Badge } from '../../components/badge.tsx'
import type { Column } from '../../components/column.ts'
import { Panel } from '../../components/panel.tsx'
import { Empty, QueryResult } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'

const SHOWN = 6

const COLUMNS: readonly Column<Mailbox>[] = [
  { name: 'Agent', width: 'minmax(0, 2fr)', cell: ({ name }) => <strong>{name}</strong> },
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

/** Of a new tenant: the way to the first delivery. */
function NoAgent() {
  return (
    <Empty
      title="No agent is active"
      action={
        <div className="row wrap">
          <Link to="/agents" search={{ new: 'agent' }} className="button primary">
            Register an agent
          </Link>
          <Link to="/events" search={{ new: 'event' }} className="button">
            Publish an event
          </Link>
        </div>
      }
    >
      Register an agent. On its page, mint it a key and add an interest: the types of events that it wants. Then publish
      an event that fits, and it waits here for the agent.
    </Empty>
  )
}

const idOf = ({ id }: Mailbox): string => id

/** `children` says what waits for those who are no agents. */
export function Mailboxes({ children }: { children?: ReactNode }) {
  const navigate = useNavigate()
  const mailboxes = useMailboxes()
  return (
    <Panel
      title="Slowest mailboxes"
      flush
      actions={
        <Link to="/agents" search={{ status: 'oldest' }} className="button slim">
          All
        </Link>
      }
    >
      <QueryResult of={mailboxes}>
        {({ mailboxes: all, isCutOff }) => (
          <>
            <Table
              label="Slowest mailboxes"
              columns={COLUMNS}
              rows={all
                .filter(({ queue }) => queue.pending + queue.leased + queue.dead_lettered > 0)
                .sort(byAge)
                .slice(0, SHOWN)}
              keyOf={idOf}
              onOpen={({ id }) => void navigate({ to: '/agents/$id', params: { id } })}
              empty={
                all.length === 0 ? (
                  <NoAgent />
                ) : (
                  <Empty title={isCutOff ? 'Nothing waits here' : 'Nothing waits for an agent'}>
                    {isCutOff
                      ? 'The backlog above also counts what waits for older agents.'
                      : 'Every delivery to one was handed out and acknowledged.'}
                  </Empty>
                )
              }
            />
            {isCutOff ? <p className="panel-note">{PARTIAL_NOTE}</p> : null}
            {children}
          </>
        )}
      </QueryResult>
    </Panel>
  )
}
