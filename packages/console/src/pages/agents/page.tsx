// Agents: their details, their interests, and the state of their mailboxes.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { AgentsIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import { textIn } from '../search-params.ts'
import type { Page } from '../page.ts'

export const agentsPage: Page = {
  path: '/agents',
  title: 'Agents',
  icon: <AgentsIcon />,
  keys: 'g a',
  isFor: ({ kind }) => kind !== 'operator',
  async find({ client }, text) {
    const { agents } = await client.agents.list({ limit: 200 })
    const typed = text.toLowerCase()
    return agents
      .filter(({ id, name }) => name.toLowerCase().includes(typed) || id.includes(typed))
      .map(({ id, name }) => ({ title: name, kind: 'Agent', to: `/agents/${id}` }))
  },
}

export const agentRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/agents',
    validateSearch: textIn('status', 'search', 'new'),
    component: lazyRouteComponent(() => import('./list.tsx'), 'AgentsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/agents/$id',
    component: lazyRouteComponent(() => import('./detail.tsx'), 'AgentPage'),
  }),
] as const
