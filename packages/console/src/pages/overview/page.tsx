// The start page: the current activity, and what is in trouble. An agent is redirected to its own page, an operator to
// the tenants.
import { createRoute } from '@tanstack/react-router'
import { OverviewIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import { lazyPage } from '../lazy-page.ts'
import type { Page } from '../page.ts'

export const overviewPage: Page = {
  path: '/',
  title: 'Overview',
  icon: <OverviewIcon />,
  keys: 'g o',
  isFor: ({ kind }) => kind === 'org_admin',
}

export const overviewRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/',
    component: lazyPage(() => import('./home.tsx'), 'Home'),
  }),
] as const
