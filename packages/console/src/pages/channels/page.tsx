// Channels: their members, their feeds and their traffic.
import { createRoute } from '@tanstack/react-router'
import { ChannelsIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import { findByName, PALETTE_SEARCHES } from '../find-by-name.ts'
import { lazyPage } from '../lazy-page.ts'
import type { Page } from '../page.ts'
import { textIn } from '../search-params.ts'

export const channelsPage: Page = {
  path: '/channels',
  title: 'Channels',
  icon: <ChannelsIcon />,
  keys: 'g c',
  isFor: ({ can }) => can('channel:read'),
  creates: [{ title: 'Create a channel', new: 'channel', scope: 'channel:write' }],
  async find({ client }, text) {
    const { channels: newest, total } = await client.channels.list({ limit: PALETTE_SEARCHES })
    return findByName({ newest, total, kind: 'Channel', path: '/channels' }, text)
  },
}

export const channelRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/channels',
    validateSearch: textIn('type', 'search', 'new'),
    component: lazyPage(() => import('./list.tsx'), 'ChannelsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/channels/$id',
    validateSearch: textIn('new'),
    component: lazyPage(() => import('./detail.tsx'), 'ChannelPage'),
  }),
] as const
