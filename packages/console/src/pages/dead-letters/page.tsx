// Dead letters: deliveries that were given up on, why, and what to do with them.
import { createRoute } from '@tanstack/react-router'
import { DeadLettersIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import { lazyPage } from '../lazy-page.ts'
import type { Page } from '../page.ts'
import { textIn } from '../search-params.ts'

export const deadLettersPage: Page = {
  path: '/dead-letters',
  title: 'Dead letters',
  icon: <DeadLettersIcon />,
  keys: 'g d',
  isFor: ({ can }) => can('receive'),
}

export const deadLetterRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/dead-letters',
    validateSearch: textIn('reason', 'type', 'agent', 'open'),
    component: lazyPage(() => import('./list.tsx'), 'DeadLettersPage'),
  }),
] as const
