// Events that go through the channel, as they are accepted: those posted to it, and those that its feeds match.
import type { Channel, EventSummary } from '@sensorium/client'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useMemo } from 'react'
import { useCall } from '../../api/calls.ts'
import { useLive, useLiveStore } from '../../api/live.ts'
import { Panel } from '../../components/panel.tsx'
import { shellCommand } from '../../components/shell-command.ts'
import { QueryResult } from '../../components/states.tsx'
import type { Column } from '../../components/column.ts'
import { Table } from '../../components/table.tsx'
import { EmptyStream } from '../events/empty-stream.tsx'
import { LiveBadge } from '../events/live-badge.tsx'
import { trafficFilter } from './traffic-filter.ts'

const clock = (at: string): string => new Date(at).toLocaleTimeString(undefined, { hour12: false })

const COLUMNS: readonly Column<EventSummary>[] = [
  { name: 'Received', width: '64px', cell: ({ received_at }) => <span className="number">{clock(received_at)}</span> },
  { name: 'Type', width: 'minmax(0, 1.4fr)', cell: ({ type }) => <code>{type}</code> },
  {
    name: 'Data',
    width: 'minmax(0, 1.6fr)',
    wideOnly: true,
    cell: ({ snippet }) => <code className="faint">{snippet}</code>,
  },
  { name: 'To', width: '32px', right: true, cell: ({ recipients }) => recipients ?? '·' },
]

const postCommand = (id: string): string =>
  shellCommand(
    '/v1/events',
    `{"specversion":"1.0","id":"'$RANDOM'","source":"/shell","type":"com.plant.note","recipient":"${id}"}`,
  )

export function Traffic({ channel }: { channel: Channel }) {
  const store = useLiveStore()
  const live = useLive()
  const navigate = useNavigate()
  const feeds = useCall('listFeeds', { params: { id: channel.id } })
  const { data } = feeds
  const through = useMemo(() => (data === undefined ? null : trafficFilter(channel, data.feeds)), [channel, data])
  // Before the browser paints: until the stream is filtered, it has the events of the whole tenant.
  useLayoutEffect(() => {
    if (through !== null) store.filter({ filter: through.filter })
  }, [store, through])
  // Other pages show all events.
  useEffect(() => () => store.filter({}), [store])
  return (
    <Panel
      title="Traffic since you opened this page"
      count={through === null ? undefined : live.arrived}
      flush
      actions={<LiveBadge live={live} />}
    >
      {live.error === null ? null : (
        <p className="failed" role="alert">
          {live.error.message}
        </p>
      )}
      <QueryResult of={feeds}>
        {() => (
          <Table
            label="Traffic"
            columns={COLUMNS}
            rows={live.events}
            keyOf={({ id }) => id}
            onOpen={({ id }) => void navigate({ to: '/events/$id', params: { id } })}
            empty={
              <EmptyStream live={live} command={postCommand(channel.id)}>
                What is posted into the channel and what its feeds match appears here within a second. Post here, or
                from a shell with your key in the first line.
              </EmptyStream>
            }
            {...(through?.isWhole === false
              ? { foot: 'There are more feeds than can be watched at once: events of some are not shown.' }
              : {})}
          />
        )}
      </QueryResult>
    </Panel>
  )
}
