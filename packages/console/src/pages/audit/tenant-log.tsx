import { getRouteApi } from '@tanstack/react-router'
import { useRows } from '../../api/rows.ts'
import { AuditLog } from './log.tsx'
import { entriesOf, queryOf } from './query.ts'

const route = getRouteApi('/tenants/$slug/audit')

export function TenantAuditPage() {
  const { slug } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const input = { params: { slug }, query: queryOf(search) }
  const list = useRows('listTenantAudit', input, entriesOf, { every: 10_000 })
  return (
    <AuditLog
      list={list}
      search={search}
      of={slug}
      onSearch={(change) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })}
    />
  )
}
