// One tenant: its usage, its limits and its org-admin keys.
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCall } from '../../api/calls.ts'
import { PageFrame } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { QueryResult } from '../../components/states.tsx'
import { AdminKeys } from './admin-keys.tsx'
import './operator.css'
import { SettingsForm } from './settings.tsx'
import { Usage } from './usage.tsx'

const route = getRouteApi('/tenants/$slug')

export function TenantPage() {
  const { slug } = route.useParams()
  const { data } = useCall('listTenants', { query: { limit: 200 } })
  const settings = useCall('getTenantSettings', { params: { slug } })
  const name = data?.tenants.find((tenant) => tenant.slug === slug)?.name ?? slug
  return (
    <PageFrame
      title={name}
      back={{ to: '/tenants', label: 'tenants' }}
      beside={
        name === slug ? null : (
          <code className="quiet cut" title={slug}>
            {slug}
          </code>
        )
      }
      actions={
        <Link to="/tenants/$slug/audit" params={{ slug }} className="button">
          Audit log
        </Link>
      }
    >
      <QueryResult of={settings} lines={10}>
        {(current) => (
          <>
            <Usage slug={slug} eventsADay={current.quota_events_per_day} />
            <div className="columns">
              <Panel title="Settings and quotas">
                <SettingsForm slug={slug} current={current} />
              </Panel>
              <AdminKeys slug={slug} />
            </div>
          </>
        )}
      </QueryResult>
    </PageFrame>
  )
}
