// /audit
import { operations } from '@sensorium/contract'
import { listAudit } from '../audit/audit.ts'
import { read, type Binding } from './binding.ts'
import { ok } from './response.ts'

export const auditOperations = (): Binding[] => [
  read(operations.listAudit, async ({ principal, query }, db) => ok(await listAudit(db, principal.tenantId, query))),
]
