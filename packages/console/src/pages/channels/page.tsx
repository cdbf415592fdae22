// Channels: their members, their feeds and their traffic.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ChannelsIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import type { Page } from '../page.ts'
import { textIn } from '../search-params.ts'

export const channelsPage: Page = {
  path: '/channels',
  title: 'Channels',
  icon: <ChannelsIcon />,
  keys: 'g c',
  isFor: ({ can }) => can('channel:read'),
  async find({ client }, text) {
    const { channels } = await client.channels.list({ limit: 200 })
    const typed = text.toLowerCase()
    return channels
      .filter(({ id, name }) => name.toLowerCase().includes(typed) || id.includes(typed))
      .map(({ id, name }) => ({ title: name, kind: 'Channel', to: `/channels/${id}` }))
  },
}

export const channelRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/channels',
    validateSearch: textIn('type', 'search', 'new'),
    component: lazyRouteComponent(() => import('./list.tsx'), 'ChannelsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/channels/$id',
    validateSearch: textIn('new'),
    component: lazyRouteComponent(() => import('./detail.tsx'), 'ChannelPage'),
  }),
] as const
