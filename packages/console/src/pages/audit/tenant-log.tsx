import { getRouteApi } from '@tanstack/react-router'
import { useOpened } from '../../api/opened.ts'
import { useRows } from '../../api/rows.ts'
import { AuditLog } from './log.tsx'
import { useSearchChange } from '../search-params.ts'
import { entriesOf, queryOf, type AuditSearch } from './query.ts'

const route = getRouteApi('/tenants/$slug/audit')

export function TenantAuditPage() {
  const { slug } = route.useParams()
  const search = route.useSearch()
  const onSearch = useSearchChange<AuditSearch>()
  const input = { params: { slug }, query: queryOf(search) }
  const list = useRows('listTenantAudit', input, entriesOf, { every: 10_000 })
  const opened = useOpened(search.open, list, 'listTenantAudit', input, entriesOf)
  return <AuditLog list={list} opened={opened} search={search} of={slug} onSearch={onSearch} />
}
