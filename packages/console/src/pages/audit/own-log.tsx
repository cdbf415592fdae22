import { getRouteApi } from '@tanstack/react-router'
import { useRows } from '../../api/rows.ts'
import { AuditLog } from './log.tsx'
import { useSearchChange } from '../search-params.ts'
import { entriesOf, queryOf, type AuditSearch } from './query.ts'

const route = getRouteApi('/audit')

export function OwnAuditPage() {
  const search = route.useSearch()
  const onSearch = useSearchChange<AuditSearch>()
  const list = useRows('listAudit', { query: queryOf(search) }, entriesOf, { every: 10_000 })
  return <AuditLog list={list} search={search} onSearch={onSearch} />
}
