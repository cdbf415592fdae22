// The audit log: who changed what. Org-admins see that of their tenant, the operator that of each tenant.
import { createRoute } from '@tanstack/react-router'
import { AuditIcon } from '../../components/icons.tsx'
import { rootRoute } from '../../root-route.ts'
import { lazyPage } from '../lazy-page.ts'
import type { Page } from '../page.ts'
import { textIn } from '../search-params.ts'

export const auditPage: Page = {
  path: '/audit',
  title: 'Audit',
  icon: <AuditIcon />,
  keys: 'g u',
  isFor: ({ kind }) => kind === 'org_admin',
}

const validateSearch = textIn('actor', 'action', 'since', 'until', 'open')

export const auditRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/audit',
    validateSearch,
    component: lazyPage(() => import('./own-log.tsx'), 'OwnAuditPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/tenants/$slug/audit',
    validateSearch,
    component: lazyPage(() => import('./tenant-log.tsx'), 'TenantAuditPage'),
  }),
] as const
