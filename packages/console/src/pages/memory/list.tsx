import { getRouteApi, Link } from '@tanstack/react-router'
import { MemoryIcon, PlusIcon } from '../../components/icons.tsx'
import { PageFrame } from '../../components/page.tsx'
import { useSession } from '../../session/session.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useSearchChange } from '../search-params.ts'
import { FilterBar } from './filter-bar.tsx'
import { Remember } from './remember.tsx'
import { Results } from './results.tsx'
import { Rows } from './rows.tsx'
import { Transfer } from './transfer.tsx'
import './memory.css'

const route = getRouteApi('/memory')

export function MemoriesPage() {
  const { new: isNew, ...filters } = route.useSearch()
  const { can } = useSession()
  const set = useSearchChange<typeof filters & { new?: string }>()
  useShortcut('c', 'Remember something', () => set({ new: 'memory' }), can('memory:write'))
  const query = filters.q?.trim() ?? ''
  return (
    <PageFrame
      title="Memory"
      full={query === ''}
      actions={
        <>
          <Link className="button" to="/memory/graph" search={filters}>
            <MemoryIcon /> Graph
          </Link>
          <button type="button" className="button" onClick={() => set({ new: 'transfer' })}>
            Export and import
          </button>
          {can('memory:write') ? (
            <button type="button" className="button primary" onClick={() => set({ new: 'memory' })}>
              <PlusIcon /> Remember
            </button>
          ) : null}
        </>
      }
    >
      <FilterBar filters={filters} onChange={set} />
      {query === '' ? <Rows filters={filters} /> : <Results query={query} filters={filters} />}
      {isNew === 'memory' && can('memory:write') ? <Remember onClose={() => set({ new: '' })} /> : null}
      {isNew === 'transfer' ? <Transfer onClose={() => set({ new: '' })} /> : null}
    </PageFrame>
  )
}
