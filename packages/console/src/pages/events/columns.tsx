import type { EventSummary } from '@sensorium/client'
import type { Column } from '../../components/column.ts'

/** Returns the time if it is today, otherwise the date and the minute: seconds would not fit beside it on a phone. */
function received(at: string): string {
  const moment = new Date(at)
  const isToday = moment.toDateString() === new Date().toDateString()
  if (isToday) return moment.toLocaleTimeString(undefined, { hourCycle: 'h23' })
  const minute = moment.toLocaleTimeString(undefined, { hourCycle: 'h23', hour: '2-digit', minute: '2-digit' })
  return `${moment.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })} ${minute}`
}

/** The columns of every list of events. */
export const EVENT_COLUMNS: readonly Column<EventSummary>[] = [
  {
    name: 'Received',
    width: '92px',
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
    cell: ({ snippet }) => (
      <code className="faint" dir="ltr">
        {snippet}
      </code>
    ),
  },
  { name: 'To', width: '40px', right: true, cell: ({ recipients }) => recipients ?? '·' },
]
