// Events: the live stream, one event with its receipts, and publishing.
import { createRoute } from '@tanstack/react-router'
import { EventsIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import { lazyPage } from '../lazy-page.ts'
import type { Page } from '../page.ts'
import { textIn } from '../search-params.ts'

export const eventsPage: Page = {
  path: '/events',
  title: 'Events',
  icon: <EventsIcon />,
  keys: 'g e',
  isFor: ({ can }) => can('send') || can('admin'),
  creates: [{ title: 'Publish an event', new: 'event', scope: 'send' }],
  async find({ client, kind }, text) {
    if (kind !== 'org_admin') return []
    const { events } = await client.events.list({ id: text, limit: 3 })
    return events.map(({ id, type }) => ({
      title: `${type} ${id}`,
      kind: 'Event',
      to: `/events/${encodeURIComponent(id)}`,
    }))
  },
}

export const eventRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/events',
    validateSearch: textIn('view', 'type', 'filter', 'subject', 'source', 'id', 'sender', 'new'),
    component: lazyPage(() => import('./list.tsx'), 'EventsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/events/$id',
    component: lazyPage(() => import('./detail.tsx'), 'EventPage'),
  }),
] as const
