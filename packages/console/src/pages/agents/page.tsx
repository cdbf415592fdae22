// Agents: their details, their interests, and the state of their mailboxes.
import { createRoute } from '@tanstack/react-router'
import { AgentsIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import { findByName, PALETTE_SEARCHES } from '../find-by-name.ts'
import { textIn } from '../search-params.ts'
import { lazyPage } from '../lazy-page.ts'
import type { Page } from '../page.ts'

export const agentsPage: Page = {
  path: '/agents',
  title: 'Agents',
  icon: <AgentsIcon />,
  keys: 'g a',
  isFor: ({ kind }) => kind !== 'operator',
  creates: [{ title: 'Register an agent', new: 'agent', scope: 'admin' }],
  async find({ client }, text) {
    const { agents: newest, total } = await client.agents.list({ limit: PALETTE_SEARCHES })
    return findByName({ newest, total, kind: 'Agent', path: '/agents' }, text)
  },
}

export const agentRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/agents',
    validateSearch: textIn('status', 'search', 'new'),
    component: lazyPage(() => import('./list.tsx'), 'AgentsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/agents/$id',
    component: lazyPage(() => import('./detail.tsx'), 'AgentPage'),
  }),
] as const
