// The pages, in the order of the navigation. A new page is a folder beside this file and its two names here.
import { createRoute, redirect } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'
import { agentRoutes, agentsPage } from './agents/page.tsx'
import type { Page } from './page.ts'

export const pages: readonly Page[] = [agentsPage]

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/agents' })
  },
})

export const pageRoutes = [home, ...agentRoutes] as const
