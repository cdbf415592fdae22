import type { Agent, RecentEvent } from '@sensorium/client'
import { useState } from 'react'
import { Copyable } from '../../components/copy.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { KeyValues } from '../../components/key-values.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { Panel } from '../../components/panel.tsx'
import { Empty, QueryResult } from '../../components/states.tsx'
import type { Column } from '../../components/column.ts'
import { Table } from '../../components/table.tsx'
import { Moment, Time } from '../../components/time.tsx'
import { useCall } from '../../api/calls.ts'

const COLUMNS: readonly Column<RecentEvent>[] = [
  { name: 'Type', width: 'minmax(0, 2fr)', cell: ({ type }) => <code>{type}</code> },
  { name: 'Subject', width: 'minmax(0, 1fr)', cell: ({ subject }) => subject ?? <span className="faint">—</span> },
  {
    name: 'Acknowledged',
    width: '104px',
    right: true,
    cell: ({ acknowledged_at }) => <Time at={acknowledged_at} />,
  },
]

const LISTEN = `SENSORIUM_KEY=ak_live_… npx sensorium listen --ack --url ${location.origin}`

export function RecentEvents({ agent }: { agent: Agent }) {
  const recent = useCall('listRecentEvents', { params: { id: agent.id }, query: { limit: 50 } }, { every: 5_000 })
  const [open, setOpen] = useState<RecentEvent | null>(null)
  return (
    <Panel title="Recent events" count={recent.data?.events.length} flush>
      <QueryResult of={recent}>
        {({ events }) => (
          <Table
            label="Recent events"
            columns={COLUMNS}
            rows={events}
            keyOf={({ delivery_id }: RecentEvent) => delivery_id}
            onOpen={(event) => setOpen(event)}
            empty={
              <Empty title="Nothing acknowledged yet" command={LISTEN}>
                Events appear here once the agent has handled them.
              </Empty>
            }
          />
        )}
      </QueryResult>
      {open === null ? null : (
        <Overlay title={open.type} kind="drawer" onClose={() => setOpen(null)}>
          <div className="stack wide">
            <KeyValues
              of={{
                Event: <Copyable text={open.event_id} />,
                Delivery: <Copyable text={open.delivery_id} />,
                Source: open.source,
                Subject: open.subject,
                Time: <Moment at={open.time} />,
                Acknowledged: <Moment at={open.acknowledged_at} />,
              }}
            />
            <JsonTree value={open.data} />
          </div>
        </Overlay>
      )}
    </Panel>
  )
}
