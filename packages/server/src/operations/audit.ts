// The audit log, for the tenant and for the operator.
import { operations } from '@sensorium/contract'
import { listAudit } from '../audit/audit.ts'
import { makeStepTurns } from '../kernel/step-turns.ts'
import { requireTenant } from '../tenants/get.ts'
import { browse, read, type Binding } from './binding.ts'
import { pauseOf } from './pause-of.ts'

export function auditOperations(): Binding[] {
  const turns = makeStepTurns()
  return [
    browse(operations.listAudit, async (call, db) => ({
      status: 200,
      text: await listAudit(db, call.principal.tenantId, call.query, pauseOf(turns, call)),
    })),
    read(operations.listTenantAudit, async (call, db) => {
      const tenant = await requireTenant(db, call.params.slug)
      return { status: 200, text: await listAudit(db, tenant.tenant_id, call.query, pauseOf(turns, call)) }
    }),
  ]
}
