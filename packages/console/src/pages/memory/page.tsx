// Memories of agents: searched by meaning, changed, shared, forgotten, and shown as a graph.
import { createRoute } from '@tanstack/react-router'
import { MemoryIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import { lazyPage } from '../lazy-page.ts'
import type { Page } from '../page.ts'
import { textIn } from '../search-params.ts'
import { FILTERS } from './filters.ts'

export const memoryPage: Page = {
  path: '/memory',
  title: 'Memory',
  icon: <MemoryIcon />,
  keys: 'g m',
  isFor: ({ can }) => can('memory:read'),
  creates: [{ title: 'Remember something', new: 'memory', scope: 'memory:write' }],
  async find({ client }, text) {
    const { memories } = await client.memory.list({ search: text, limit: 8 })
    return memories.map(({ id, title }) => ({ title, kind: 'Memory', to: `/memory/${id}` }))
  },
}

export const memoryRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/memory',
    validateSearch: textIn(...FILTERS, 'new'),
    component: lazyPage(() => import('./list.tsx'), 'MemoriesPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/memory/graph',
    validateSearch: textIn(...FILTERS, 'of', 'at'),
    component: lazyPage(() => import('./graph/graph.tsx'), 'GraphPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/memory/$id',
    validateSearch: textIn('do'),
    component: lazyPage(() => import('./detail.tsx'), 'MemoryPage'),
  }),
] as const
