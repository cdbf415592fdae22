// The activity of the tenant, second by second, and where it is stuck. Each number links to its list.
import type { LiveStats } from '@sensorium/client'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { PageFrame } from '../../components/page.tsx'
import { Stat, Stats } from '../../components/stat.tsx'
import { Failed } from '../../components/states.tsx'
import { span } from '../../components/time.tsx'
import { LiveBadge } from '../events/live-badge.tsx'
import { LatestEvents } from './latest-events.tsx'
import { Mailboxes } from './mailboxes.tsx'
import { Rates } from './rates.tsx'
import { Trouble } from './trouble.tsx'

/** Rates are averaged over the last ten seconds: the rate of a single second jumps too much to be read. */
const RATE_SECONDS = 10

type Count = 'events' | 'deliveries' | 'acknowledgements' | 'failures'

function rateOf(stats: readonly LiveStats[], count: Count): string {
  const last = stats.slice(-RATE_SECONDS)
  const seconds = last.reduce((sum, one) => sum + one.seconds, 0)
  const rate = seconds === 0 ? 0 : last.reduce((sum, one) => sum + one[count], 0) / seconds
  return rate >= 10 || rate === 0 ? Math.round(rate).toLocaleString() : rate.toFixed(1)
}

function toneOfWait(seconds: number | null | undefined): 'warn' | 'bad' | undefined {
  return (seconds ?? 0) > 600 ? 'bad' : (seconds ?? 0) > 60 ? 'warn' : undefined
}

export function Overview() {
  const live = useLive()
  const { stats } = live
  const now = stats.at(-1)
  const oldest = now?.oldest_waiting_seconds ?? null
  return (
    <PageFrame
      title="Overview"
      beside={<LiveBadge live={live} />}
      actions={
        <Link to="/events" className="button">
          Watch the events
        </Link>
      }
    >
      {live.error === null ? null : <Failed error={live.error} />}
      <Stats>
        <Stat label="Events" value={rateOf(stats, 'events')} note="a second" to="/events" />
        <Stat
          label="Deliveries"
          value={rateOf(stats, 'deliveries')}
          note="a second"
          to="/agents"
          search={{ status: 'active' }}
        />
        <Stat
          label="Acknowledged"
          value={rateOf(stats, 'acknowledgements')}
          note="a second"
          to="/agents"
          search={{ status: 'active' }}
        />
        <Stat
          label="Failures"
          value={rateOf(stats, 'failures')}
          note="a second"
          tone={stats.slice(-RATE_SECONDS).some(({ failures }) => failures > 0) ? 'warn' : undefined}
          to="/dead-letters"
        />
        <Stat
          label="Backlog"
          value={(now?.backlog ?? 0).toLocaleString()}
          note="deliveries wait"
          to="/agents"
          search={{ status: 'backlog' }}
        />
        <Stat
          label="Oldest waiting"
          value={oldest === null ? 'none' : span(oldest * 1000)}
          tone={toneOfWait(oldest)}
          to="/agents"
          search={{ status: 'oldest' }}
        />
      </Stats>
      <Rates stats={stats} />
      <div className="columns">
        <div className="stack wide">
          <Mailboxes />
          <LatestEvents events={live.events} />
        </div>
        <Trouble />
      </div>
    </PageFrame>
  )
}
