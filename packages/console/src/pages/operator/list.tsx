import type { Tenant, TenantList } from '@sensorium/client'
import { getRouteApi } from '@tanstack/react-router'
import { useRows } from '../../api/rows.ts'
import { ListPage } from '../../components/list-page.tsx'
import { Empty } from '../../components/states.tsx'
import type { Column } from '../../components/column.ts'
import { Time } from '../../components/time.tsx'
import { useSearchChange } from '../search-params.ts'
import { ConnectorsInTrouble } from './connectors-in-trouble.tsx'
import { CreateTenant } from './create.tsx'

const route = getRouteApi('/tenants')

const COLUMNS: readonly Column<Tenant>[] = [
  { name: 'Name', width: 'minmax(0, 1.4fr)', cell: ({ name }) => <strong>{name}</strong> },
  { name: 'Slug', width: 'minmax(0, 1fr)', cell: ({ slug }) => <code>{slug}</code> },
  { name: 'Id', width: 'minmax(0, 1.6fr)', wideOnly: true, cell: ({ id }) => <code className="quiet">{id}</code> },
  { name: 'Created', width: '100px', right: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

const tenantsOf = ({ tenants }: TenantList): Tenant[] => tenants
const slugOf = ({ slug }: Tenant): string => slug

export function TenantsPage() {
  const { search = '', new: isNew } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useRows('listTenants', {}, tenantsOf, { every: 15_000, whole: search !== '' })
  const set = useSearchChange<{ search?: string; new?: string }>()
  return (
    <ListPage
      title="Tenants"
      noun="tenant"
      list={list}
      columns={COLUMNS}
      search={search}
      onSearch={(text) => set({ search: text })}
      keyOf={slugOf}
      filters={<ConnectorsInTrouble />}
      onOpen={({ slug }) => void navigate({ to: '/tenants/$slug', params: { slug } })}
      create={{ verb: 'Create', label: 'Create a tenant', run: () => set({ new: 'tenant' }) }}
      empty={
        <Empty title="No tenant yet" command="npx sensorium tenant create acme">
          A tenant has agents, events and memories of its own, which no other sees.
        </Empty>
      }
    >
      {isNew === 'tenant' ? <CreateTenant onClose={() => set({ new: '' })} /> : null}
    </ListPage>
  )
}
