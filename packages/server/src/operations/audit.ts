// The audit log, for the tenant and for the operator.
import { operations } from '@sensorium/contract'
import { listAudit } from '../audit/audit.ts'
import { requireTenant } from '../tenants/create.ts'
import { browse, read, type Binding } from './binding.ts'
import { ok } from './response.ts'

export const auditOperations = (): Binding[] => [
  browse(operations.listAudit, async ({ principal, query }, db) => ok(await listAudit(db, principal.tenantId, query))),
  read(operations.listTenantAudit, async ({ params, query }, db) => {
    const tenant = await requireTenant(db, params.slug)
    return ok(await listAudit(db, tenant.tenant_id, query))
  }),
]
