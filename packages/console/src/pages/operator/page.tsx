// Tenants, for the operator of the installation: their limits, their usage and their org-admin keys.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { OperatorIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import type { Page } from '../page.ts'
import { textIn } from '../search-params.ts'

export const tenantsPage: Page = {
  path: '/tenants',
  title: 'Tenants',
  icon: <OperatorIcon />,
  keys: 'g t',
  isFor: ({ kind }) => kind === 'operator',
  async find({ client }, text) {
    const { tenants } = await client.call('listTenants', { query: { limit: 200 } })
    const typed = text.toLowerCase()
    return tenants
      .filter(({ slug, name }) => slug.includes(typed) || name.toLowerCase().includes(typed))
      .map(({ slug, name }) => ({ title: name, kind: 'Tenant', to: `/tenants/${slug}` }))
  },
}

export const tenantRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/tenants',
    validateSearch: textIn('search', 'new'),
    component: lazyRouteComponent(() => import('./list.tsx'), 'TenantsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/tenants/$slug',
    component: lazyRouteComponent(() => import('./detail.tsx'), 'TenantPage'),
  }),
] as const
