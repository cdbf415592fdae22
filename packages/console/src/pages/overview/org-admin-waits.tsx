// What waits for the org-admin, who has a mailbox as a member of channels, but is in no list of agents.
import type { LiveStats } from '@sensorium/client'
import { span } from '../../components/span.ts'

type Waits = Pick<LiveStats, 'org_admin_backlog' | 'org_admin_oldest_waiting_seconds'>

export function OrgAdminWaits({ now }: { now: Waits }) {
  const { org_admin_backlog: count, org_admin_oldest_waiting_seconds: oldest } = now
  if (!count) return null
  const deliveries = count === 1 ? 'delivery waits' : 'deliveries wait'
  return (
    <p className="panel-note">
      {count.toLocaleString()} {deliveries} for the org-admin
      {oldest === null ? '' : `, the oldest for ${span(oldest * 1000)}`}.{' '}
      <a className="link" href="/docs/channels#the-mailbox-of-the-org-admin">
        How to read them
      </a>
    </p>
  )
}
