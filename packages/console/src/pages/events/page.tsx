// Events: what is happening, one of them with its receipts, and publishing.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { EventsIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import type { Page } from '../page.ts'
import { textIn } from '../search-params.ts'

export const eventsPage: Page = {
  path: '/events',
  title: 'Events',
  icon: <EventsIcon />,
  keys: 'g e',
  isFor: ({ can }) => can('send') || can('admin'),
  async find({ client }, text) {
    const { event } = await client.events.get(text)
    return event === null ? [] : [{ title: event.id, kind: 'Event', to: `/events/${encodeURIComponent(event.id)}` }]
  },
}

export const eventRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/events',
    validateSearch: textIn('type', 'filter', 'new'),
    component: lazyRouteComponent(() => import('./list.tsx'), 'EventsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/events/$id',
    component: lazyRouteComponent(() => import('./detail.tsx'), 'EventPage'),
  }),
] as const
