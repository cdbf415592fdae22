// The stream of events. An org-admin watches the tenant here; a session that may publish does so here too.
import { getRouteApi } from '@tanstack/react-router'
import { PlusIcon } from '../../components/icons.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { PageFrame } from '../../components/page.tsx'
import { Segments } from '../../components/segments.tsx'
import { useSession } from '../../session/session.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useSearchChange } from '../search-params.ts'
import { OpenById } from './open-by-id.tsx'
import { PublishForm } from './publish.tsx'
import { EventSearch, SEARCHED } from './search.tsx'
import { EventStream } from './stream.tsx'

const route = getRouteApi('/events')

type View = 'live' | 'search'
const VIEWS = [
  { value: 'live', label: 'Live' },
  { value: 'search', label: 'Search' },
] as const

export function EventsPage() {
  const search = route.useSearch()
  const { type = '', filter = '', new: isNew } = search
  const view: View = search.view === 'search' ? 'search' : 'live'
  const navigate = route.useNavigate()
  const { can, kind } = useSession()
  const set = useSearchChange<typeof search>()
  useShortcut('c', 'Publish an event', () => set({ new: 'event' }), can('send'))
  return (
    <PageFrame
      title="Events"
      full
      beside={
        kind === 'org_admin' ? (
          <Segments<View>
            label="Live or search"
            value={view}
            options={VIEWS}
            onChange={(next) => set({ view: next })}
          />
        ) : null
      }
      actions={
        <>
          <OpenById onOpen={(id) => void navigate({ to: '/events/$id', params: { id } })} />
          {can('send') ? (
            <button type="button" className="button primary" onClick={() => set({ new: 'event' })}>
              <PlusIcon /> Publish
            </button>
          ) : null}
        </>
      }
    >
      {kind === 'org_admin' && view === 'search' ? (
        <EventSearch
          searched={Object.fromEntries(SEARCHED.filter((name) => search[name]).map((name) => [name, search[name]!]))}
          onSearch={set}
          onOpen={(id) => void navigate({ to: '/events/$id', params: { id } })}
        />
      ) : kind === 'org_admin' ? (
        <EventStream
          type={type}
          filter={filter}
          onFilter={set}
          onOpen={(id) => void navigate({ to: '/events/$id', params: { id } })}
        />
      ) : (
        <p className="quiet">
          The stream of all events is for org-admins. With this key you see the receipts of events that you published:
          open one by its id.
        </p>
      )}
      {isNew === 'event' && can('send') ? (
        <Overlay title="Publish an event" kind="drawer" wide onClose={() => set({ new: '' })}>
          <PublishForm onClose={() => set({ new: '' })} />
        </Overlay>
      ) : null}
    </PageFrame>
  )
}
