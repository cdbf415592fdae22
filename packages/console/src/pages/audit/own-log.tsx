import { getRouteApi } from '@tanstack/react-router'
import { useRows } from '../../api/rows.ts'
import { AuditLog } from './log.tsx'
import { entriesOf, queryOf } from './query.ts'

const route = getRouteApi('/audit')

export function OwnAuditPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const list = useRows('listAudit', { query: queryOf(search) }, entriesOf, { every: 10_000 })
  return (
    <AuditLog
      list={list}
      search={search}
      onSearch={(change) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })}
    />
  )
}
