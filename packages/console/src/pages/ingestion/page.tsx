// Events from outside: the webhooks and connectors of all tenants, for the operator.
import { createRoute } from '@tanstack/react-router'
import { IngestionIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import { lazyPage } from '../lazy-page.ts'
import type { Page } from '../page.ts'
import { textIn } from '../search-params.ts'

export const ingestionPage: Page = {
  path: '/ingestion',
  title: 'Ingestion',
  icon: <IngestionIcon />,
  keys: 'g i',
  isFor: ({ kind }) => kind === 'operator',
  creates: [
    { title: 'Add a webhook', new: 'webhook' },
    { title: 'Add a connector', new: 'connector' },
  ],
}

export const ingestionRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/ingestion',
    validateSearch: textIn('tenant', 'new', 'open'),
    component: lazyPage(() => import('./list.tsx'), 'IngestionPage'),
  }),
] as const
