// The audit log, for the tenant and for the operator.
import { operations } from '@sensorium/contract'
import { listAudit } from '../audit/audit.ts'
import { requireTenant } from '../tenants/create.ts'
import { browse, read, type Binding } from './binding.ts'

export const auditOperations = (): Binding[] => [
  browse(operations.listAudit, async ({ principal, query }, db) => ({
    status: 200,
    text: await listAudit(db, principal.tenantId, query),
  })),
  read(operations.listTenantAudit, async ({ params, query }, db) => {
    const tenant = await requireTenant(db, params.slug)
    return { status: 200, text: await listAudit(db, tenant.tenant_id, query) }
  }),
]
