// Tenants, for the operator of the installation: their limits, their usage and their org-admin keys.
import { createRoute } from '@tanstack/react-router'
import { OperatorIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import { findByName, PALETTE_SEARCHES } from '../find-by-name.ts'
import { lazyPage } from '../lazy-page.ts'
import type { Page } from '../page.ts'
import { textIn } from '../search-params.ts'

export const tenantsPage: Page = {
  path: '/tenants',
  title: 'Tenants',
  icon: <OperatorIcon />,
  keys: 'g t',
  isFor: ({ kind }) => kind === 'operator',
  creates: [{ title: 'Create a tenant', new: 'tenant' }],
  async find({ client }, text) {
    const { tenants, total } = await client.call('listTenants', { query: { limit: PALETTE_SEARCHES } })
    const newest = tenants.map(({ slug, name }) => ({ id: slug, name }))
    return findByName({ newest, total, kind: 'Tenant', path: '/tenants' }, text)
  },
}

export const tenantRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/tenants',
    validateSearch: textIn('search', 'new'),
    component: lazyPage(() => import('./list.tsx'), 'TenantsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/tenants/$slug',
    component: lazyPage(() => import('./detail.tsx'), 'TenantPage'),
  }),
] as const
