import type { Connector } from '@sensorium/client'
import type { Rows } from '../../api/rows.ts'
import { PlusIcon } from '../../components/icons.tsx'
import { Panel } from '../../components/panel.tsx'
import { Empty, QueryResult } from '../../components/states.tsx'
import type { Column } from '../../components/column.ts'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { ConnectorState } from './connector.tsx'
import './ingestion.css'

const CONNECT = `curl ${location.origin}/operator/connectors -H "authorization: Bearer $OPERATOR_TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"tenant":"default","source":"erp","url":"amqps://user:password@broker:5671","address":"/amq/queue/orders"}'`

const CONNECTORS: readonly Column<Connector>[] = [
  { name: 'Source', width: 'minmax(80px, 1fr)', cell: ({ source }) => <strong>{source}</strong> },
  { name: 'Tenant', width: 'minmax(80px, 1fr)', cell: ({ tenant }) => <code>{tenant}</code> },
  { name: 'State', width: '112px', cell: ({ state }) => <ConnectorState state={state} /> },
  {
    name: 'From',
    width: 'minmax(0, 2.2fr)',
    wideOnly: true,
    cell: ({ url, address, last_error }) =>
      last_error === null ? (
        <code className="quiet">{`${url} ${address}`}</code>
      ) : (
        <>
          <code className="quiet">{address}</code> <span className="connector-error">{last_error}</span>
        </>
      ),
  },
  {
    name: 'Accepted',
    width: '84px',
    right: true,
    wideOnly: true,
    cell: ({ counters }) => counters.accepted.toLocaleString(),
  },
  {
    name: 'Last message',
    width: '100px',
    right: true,
    wideOnly: true,
    cell: ({ last_message_at }) => <Time at={last_message_at} absent="none" />,
  },
]

interface ConnectorsProps {
  connectors: Rows<Connector>
  onAdd(): void
  onOpen(id: string): void
}

export function Connectors({ connectors, onAdd, onOpen }: ConnectorsProps) {
  return (
    <Panel
      title="Connectors"
      count={connectors.first === undefined ? undefined : connectors.total}
      flush
      actions={
        <button type="button" className="button slim" onClick={onAdd}>
          <PlusIcon /> Add a connector
        </button>
      }
    >
      <QueryResult of={{ ...connectors, data: connectors.first }}>
        {() => (
          <Table
            label="Connectors"
            columns={CONNECTORS}
            count={connectors.total}
            at={connectors.at}
            onLook={connectors.setViewport}
            keyOf={({ id }) => id}
            onOpen={({ id }) => onOpen(id)}
            empty={
              <Empty title="No connector yet" command={CONNECT}>
                A connector receives from a queue of an AMQP 1.0 broker and makes an event of each message.
              </Empty>
            }
          />
        )}
      </QueryResult>
    </Panel>
  )
}
