import type { Tenant, TenantList } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useRows } from '../../api/calls.ts'
import { PlusIcon } from '../../components/icons.tsx'
import { PageFrame } from '../../components/page.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Empty, Failed, Loading } from '../../components/states.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { CreateTenant } from './create.tsx'

const route = getRouteApi('/tenants')

const COLUMNS: readonly Column<Tenant>[] = [
  { name: 'Name', width: 'minmax(0, 1.4fr)', cell: ({ name }) => <strong>{name}</strong> },
  { name: 'Slug', width: 'minmax(0, 1fr)', cell: ({ slug }) => <code>{slug}</code> },
  { name: 'Id', width: 'minmax(0, 1.6fr)', wideOnly: true, cell: ({ id }) => <code className="quiet">{id}</code> },
  { name: 'Created', width: '100px', right: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

const tenantsOf = ({ tenants }: TenantList): Tenant[] => tenants

export function TenantsPage() {
  const { search = '', new: isNew } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useRows('listTenants', {}, tenantsOf, { every: 15_000 })
  const shown = useMemo(() => {
    const typed = search.toLowerCase()
    return list.rows.filter(({ name, slug }) => name.toLowerCase().includes(typed) || slug.includes(typed))
  }, [list.rows, search])
  const set = (change: { search?: string; new?: string }): void =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  useShortcut('c', 'Create a tenant', () => set({ new: 'tenant' }))
  return (
    <PageFrame
      title="Tenants"
      full
      actions={
        <button type="button" className="button primary" onClick={() => set({ new: 'tenant' })}>
          <PlusIcon /> Create
        </button>
      }
    >
      <div className="filters">
        <SearchBox label="Filter tenants" value={search} onChange={(text) => set({ search: text })} />
      </div>
      {list.error !== null && list.rows.length === 0 ? (
        <Failed error={list.error} />
      ) : list.isPending ? (
        <Loading lines={8} />
      ) : (
        <Table
          label="Tenants"
          fill
          columns={COLUMNS}
          rows={shown}
          keyOf={({ id }) => id}
          onOpen={({ slug }) => void navigate({ to: '/tenants/$slug', params: { slug } })}
          hasMore={list.hasMore}
          more={list.more}
          foot={
            <span className="number">
              {search === '' ? `${list.total.toLocaleString()} tenants` : `${shown.length} of ${list.total} tenants`}
            </span>
          }
          empty={
            search === '' ? (
              <Empty title="No tenant yet" command="npx sensorium tenant create acme">
                A tenant has agents, events and memories of its own, which no other sees.
              </Empty>
            ) : (
              <Empty title="No tenant fits this filter" />
            )
          }
        />
      )}
      {isNew === 'tenant' ? <CreateTenant onClose={() => set({ new: '' })} /> : null}
    </PageFrame>
  )
}
