// The stream of events. An org-admin watches the tenant; whoever may publish does so here too.
import { getRouteApi } from '@tanstack/react-router'
import { PlusIcon } from '../../components/icons.tsx'
import { Overlay } from '../../components/overlay.tsx'
import { PageFrame } from '../../components/page.tsx'
import { useSession } from '../../session/session.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { OpenById } from './open-by-id.tsx'
import { PublishForm } from './publish.tsx'
import { EventStream } from './stream.tsx'

const route = getRouteApi('/events')

export function EventsPage() {
  const { type = '', filter = '', new: isNew } = route.useSearch()
  const navigate = route.useNavigate()
  const { can, kind } = useSession()
  const set = (change: { type?: string; filter?: string; new?: string }): void =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
  useShortcut('c', 'Publish an event', () => set({ new: 'event' }), can('send'))
  return (
    <PageFrame
      title="Events"
      full
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
      {kind === 'org_admin' ? (
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
