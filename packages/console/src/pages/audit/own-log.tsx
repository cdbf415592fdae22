import { getRouteApi } from '@tanstack/react-router'
import { useOpened } from '../../api/opened.ts'
import { useRows } from '../../api/rows.ts'
import { AuditLog } from './log.tsx'
import { useSearchChange } from '../search-params.ts'
import { entriesOf, queryOf, type AuditSearch } from './query.ts'

const route = getRouteApi('/audit')

export function OwnAuditPage() {
  const search = route.useSearch()
  const onSearch = useSearchChange<AuditSearch>()
  const input = { query: queryOf(search) }
  const list = useRows('listAudit', input, entriesOf, { every: 10_000 })
  const opened = useOpened(search.open, list, 'listAudit', input, entriesOf)
  return <AuditLog list={list} opened={opened} search={search} onSearch={onSearch} />
}
