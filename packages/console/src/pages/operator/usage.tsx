// The usage of a tenant on each of the last thirty days, with a small chart for each kind of work.
import type { UsageDay } from '@sensorium/client'
import { useCall } from '../../api/calls.ts'
import { QueryResult } from '../../components/states.tsx'

const DAYS = 30
const KINDS = [
  { name: 'events', says: 'Events' },
  { name: 'deliveries', says: 'Deliveries' },
  { name: 'acknowledgements', says: 'Acknowledged' },
  { name: 'memories', says: 'Memories' },
  { name: 'searches', says: 'Searches' },
] as const

/** Returns the dates of the last days, oldest first, in UTC as the service names them. */
function lastDates(now: number): string[] {
  return Array.from({ length: DAYS }, (_, i) => new Date(now - (DAYS - 1 - i) * 86_400_000).toISOString().slice(0, 10))
}

interface DayBarsProps {
  says: string
  /** The most that a day may have. */
  quota: number | null
  dates: readonly string[]
  values: readonly number[]
}

function DayBars({ says, quota, dates, values }: DayBarsProps) {
  const most = Math.max(1, ...values)
  const today = values.at(-1) ?? 0
  const total = values.reduce((sum, value) => sum + value, 0)
  return (
    <figure className="stat day-bars" aria-label={`${says}: ${total.toLocaleString()} in ${DAYS} days`}>
      <figcaption>
        <span className="quiet small">{says}</span>
        <span className="figure number">{total.toLocaleString()}</span>
      </figcaption>
      <div className="bars" aria-hidden="true">
        {values.map((value, i) => (
          <span key={dates[i]} title={`${dates[i]}: ${value.toLocaleString()}`}>
            <i style={{ height: `${value === 0 ? 0 : Math.max(4, (value / most) * 100)}%` }} />
          </span>
        ))}
      </div>
      <div className="row apart faint small" {...(quota === null ? { 'aria-hidden': true } : {})}>
        <span>{dates[0]?.slice(5)}</span>
        {quota === null ? (
          <span>today</span>
        ) : (
          <span className={today >= quota ? 'bad-text' : ''}>
            today {today.toLocaleString()} of {quota.toLocaleString()}
          </span>
        )}
      </div>
    </figure>
  )
}

export function Usage({ slug, eventsADay }: { slug: string; eventsADay: number | null }) {
  const usage = useCall('getUsage', { query: { tenant: slug } }, { every: 30_000 })
  return (
    <section aria-label="Usage of the last 30 days">
      <QueryResult of={usage} lines={3}>
        {({ days }) => {
          const byDate = new Map(days.map((day): [string, UsageDay] => [day.date, day]))
          const dates = lastDates(Date.now())
          return (
            <div className="stats usage">
              {KINDS.map(({ name, says }) => (
                <DayBars
                  key={name}
                  says={says}
                  quota={name === 'events' ? eventsADay : null}
                  dates={dates}
                  values={dates.map((date) => byDate.get(date)?.[name] ?? 0)}
                />
              ))}
            </div>
          )
        }}
      </QueryResult>
    </section>
  )
}
