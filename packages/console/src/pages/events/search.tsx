// The search over retained events. Every filter is in the address.
import type { EventList, EventSummary, Operations } from '@sensorium/client'
import { useRows } from '../../api/rows.ts'
import { counted } from '../../components/counted.ts'
import { ListTable } from '../../components/list-table.tsx'
import { Empty } from '../../components/states.tsx'
import { useSettled } from '../../components/use-settled.ts'
import { EVENT_COLUMNS } from './columns.tsx'
import { PUBLISH } from './publish-command.ts'
import './events.css'

export const SEARCHED = ['type', 'subject', 'source', 'id', 'sender'] as const
type Searched = { [name in (typeof SEARCHED)[number]]?: string }

const LABELS: Record<(typeof SEARCHED)[number], { label: string; example: string }> = {
  type: { label: 'Type pattern', example: 'com.plant.*' },
  subject: { label: 'Subject', example: 'pump/7' },
  source: { label: 'Source', example: '/plant/north' },
  id: { label: 'Event id', example: 'reading-1' },
  sender: { label: 'Sender', example: 'agt_…' },
}

const eventsOf = ({ events }: EventList): EventSummary[] => events

interface SearchProps {
  searched: Searched
  onSearch(change: Searched): void
  onOpen(id: string): void
}

export function EventSearch({ searched, onSearch, onOpen }: SearchProps) {
  // Every search looks through up to 10,000 events, so one for each letter is too many.
  const query: Operations['listEvents']['query'] = useSettled(searched)
  const list = useRows('listEvents', { query }, eventsOf, { every: 10_000 })
  // Without a filter the count changes all the time, and nobody asked for it.
  const isFiltered = SEARCHED.some((name) => searched[name])
  const back = list.first?.searched_back_to ?? null
  return (
    <>
      <div className="filters">
        {SEARCHED.map((name) => (
          <input
            key={name}
            className="input mono search-part"
            aria-label={LABELS[name].label}
            placeholder={LABELS[name].label}
            title={`${LABELS[name].label}, such as ${LABELS[name].example}`}
            spellCheck={false}
            value={searched[name] ?? ''}
            onChange={({ target }) => onSearch({ [name]: target.value })}
          />
        ))}
      </div>
      <ListTable
        label="Events"
        list={list}
        columns={EVENT_COLUMNS}
        onOpen={({ id }) => onOpen(id)}
        foot={
          <span className="number">
            <span role="status" aria-live={isFiltered ? 'polite' : 'off'}>
              {counted(list.total, 'event')}
            </span>
            {back === null ? '' : `, searched back to ${new Date(back).toLocaleString()}`}
          </span>
        }
        empty={
          isFiltered ? (
            <Empty title="No event fits">The newest 10,000 events are searched.</Empty>
          ) : (
            <Empty title="No event yet" command={PUBLISH}>
              Publish one here, or from a shell with your key in the first line.
            </Empty>
          )
        }
      />
    </>
  )
}
