// The activity of the tenant, second by second, and where it is stuck. Each number links to its list.
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { latestOf, rateOf } from '../../api/live-stats.ts'
import { PageFrame } from '../../components/page.tsx'
import { Stat, Stats } from '../../components/stat.tsx'
import { Failed } from '../../components/states.tsx'
import { span } from '../../components/span.ts'
import { LiveBadge } from '../events/live-badge.tsx'
import { LatestEvents } from './latest-events.tsx'
import { Mailboxes } from './mailboxes.tsx'
import { Rates } from './rates.tsx'
import { OrgAdminWaits } from './org-admin-waits.tsx'
import { Trouble } from './trouble.tsx'

/** What the service has not said yet is not 0. */
const UNKNOWN = '—'

function rateText(rate: number | null): string {
  if (rate === null) return UNKNOWN
  return rate >= 10 || rate === 0 ? Math.round(rate).toLocaleString() : rate.toFixed(1)
}

function toneOfWait(seconds: number | null | undefined): 'warn' | 'bad' | undefined {
  return (seconds ?? 0) > 600 ? 'bad' : (seconds ?? 0) > 60 ? 'warn' : undefined
}

export function Overview() {
  const live = useLive()
  const { stats } = live
  const latest = live.isCounted ? latestOf(stats) : []
  const now = latest.at(-1)
  const oldest = now?.oldest_waiting_seconds
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
        <Stat label="Events" value={rateText(rateOf(latest, 'events'))} note="a second" to="/events" />
        <Stat
          label="Deliveries"
          value={rateText(rateOf(latest, 'deliveries'))}
          note="a second"
          to="/agents"
          search={{ status: 'active' }}
        />
        <Stat
          label="Acknowledged"
          value={rateText(rateOf(latest, 'acknowledgements'))}
          note="a second"
          to="/agents"
          search={{ status: 'active' }}
        />
        <Stat
          label="Failures"
          value={rateText(rateOf(latest, 'failures'))}
          note="a second"
          tone={latest.some(({ failures }) => failures > 0) ? 'warn' : undefined}
          to="/dead-letters"
        />
        <Stat
          label="Backlog"
          value={now?.backlog.toLocaleString() ?? UNKNOWN}
          note={
            now?.org_admin_backlog ? `${now.org_admin_backlog.toLocaleString()} for the org-admin` : 'deliveries wait'
          }
          to="/agents"
          search={{ status: 'backlog' }}
        />
        <Stat
          label="Oldest waiting"
          value={oldest === undefined ? UNKNOWN : oldest === null ? 'none' : span(oldest * 1000)}
          tone={toneOfWait(oldest)}
          to="/agents"
          search={{ status: 'oldest' }}
        />
      </Stats>
      <Rates stats={stats} />
      <div className="columns">
        <div className="stack wide">
          <Mailboxes>{now === undefined ? null : <OrgAdminWaits now={now} />}</Mailboxes>
          <LatestEvents live={live} />
        </div>
        <Trouble />
      </div>
    </PageFrame>
  )
}
