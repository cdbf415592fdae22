// The audit log, for the tenant and for the operator.
import { operations } from '@sensorium/contract'
import { listAudit } from '../audit/audit.ts'
import { makeStepTurns, type Pause } from '../kernel/step-turns.ts'
import { requireTenant } from '../tenants/get.ts'
import { browse, read, type Binding } from './binding.ts'
import type { Call } from './call.ts'

export function auditOperations(): Binding[] {
  const turns = makeStepTurns()
  /** Waits for the caller's turn. Counting ends when its client has gone. */
  const pauseOf =
    ({ principal, options }: Pick<Call<never>, 'principal' | 'options'>): Pause =>
    async () => {
      await turns.take(principal.tenantId, principal.id)
      if (options.isClientGone?.()) throw new Error('the client went away')
    }

  return [
    browse(operations.listAudit, async (call, db) => ({
      status: 200,
      text: await listAudit(db, call.principal.tenantId, call.query, pauseOf(call)),
    })),
    read(operations.listTenantAudit, async (call, db) => {
      const tenant = await requireTenant(db, call.params.slug)
      return { status: 200, text: await listAudit(db, tenant.tenant_id, call.query, pauseOf(call)) }
    }),
  ]
}
