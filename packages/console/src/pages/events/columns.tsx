import type { EventSummary } from '@sensorium/client'
import type { Column } from '../../components/column.ts'

/** Returns the time, with the date unless it is today. */
function received(at: string): string {
  const moment = new Date(at)
  const isToday = moment.toDateString() === new Date().toDateString()
  const time = moment.toLocaleTimeString(undefined, { hour12: false })
  return isToday ? time : `${moment.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })} ${time}`
}

/** The columns of every list of events. */
export const EVENT_COLUMNS: readonly Column<EventSummary>[] = [
  {
    name: 'Received',
    width: '76px',
    cell: ({ received_at }) => (
      <time className="number" dateTime={received_at} title={received_at}>
        {received(received_at)}
      </time>
    ),
  },
  { name: 'Type', width: 'minmax(0, 2fr)', cell: ({ type }) => <code title={type}>{type}</code> },
  { name: 'Subject', width: 'minmax(0, 1fr)', cell: ({ subject }) => subject ?? <span className="faint">—</span> },
  { name: 'Source', width: 'minmax(0, 1fr)', wideOnly: true, cell: ({ source }) => source },
  {
    name: 'Data',
    width: 'minmax(0, 2fr)',
    wideOnly: true,
    cell: ({ snippet }) => <code className="faint">{snippet}</code>,
  },
  { name: 'To', width: '40px', right: true, cell: ({ recipients }) => recipients ?? '·' },
]
