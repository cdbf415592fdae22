import type { Webhook } from '@sensorium/client'
import type { Rows } from '../../api/rows.ts'
import { Badge } from '../../components/badge.tsx'
import { PlusIcon } from '../../components/icons.tsx'
import { Panel } from '../../components/panel.tsx'
import { Empty, QueryResult } from '../../components/states.tsx'
import type { Column } from '../../components/column.ts'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'

const WEBHOOKS: readonly Column<Webhook>[] = [
  { name: 'Source', width: 'minmax(80px, 1fr)', cell: ({ source }) => <strong>{source}</strong> },
  { name: 'Tenant', width: 'minmax(80px, 1fr)', cell: ({ tenant }) => <code>{tenant}</code> },
  {
    name: 'State',
    width: '84px',
    cell: ({ active }) => <Badge tone={active ? 'good' : undefined}>{active ? 'active' : 'inactive'}</Badge>,
  },
  {
    name: 'Preset',
    width: '90px',
    wideOnly: true,
    cell: ({ preset }) => (preset === undefined ? <span className="faint">—</span> : <Badge plain>{preset}</Badge>),
  },
  {
    name: 'Address',
    width: 'minmax(0, 2.4fr)',
    wideOnly: true,
    cell: ({ own_url }) => <code className="quiet">{own_url}</code>,
  },
  {
    name: 'Created',
    width: '100px',
    right: true,
    wideOnly: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
]

interface WebhooksProps {
  webhooks: Rows<Webhook>
  onAdd(): void
  onOpen(id: string): void
}

export function Webhooks({ webhooks, onAdd, onOpen }: WebhooksProps) {
  return (
    <Panel
      title="Webhooks"
      count={webhooks.first === undefined ? undefined : webhooks.total}
      flush
      actions={
        <button type="button" className="button slim" onClick={onAdd}>
          <PlusIcon /> Add a webhook
        </button>
      }
    >
      <QueryResult of={{ ...webhooks, data: webhooks.first }}>
        {() => (
          <Table
            label="Webhooks"
            columns={WEBHOOKS}
            count={webhooks.total}
            at={webhooks.at}
            onLook={webhooks.setViewport}
            keyOf={({ id }) => id}
            onOpen={({ id }) => onOpen(id)}
            empty={
              <Empty title="No webhook yet" command="npx sensorium webhook create --tenant default --preset github">
                A webhook takes what another system posts, checks its signature and makes an event of it.
              </Empty>
            }
          />
        )}
      </QueryResult>
    </Panel>
  )
}
