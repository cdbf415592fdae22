import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'
import { pastTime } from '../past-time.ts'
import { showAudit } from '../terminal/audit-table.ts'

export const run: OperatorRun = async ({ args, options, call }) => {
  const { actor, action, offset, limit } = options
  const since = pastTime('since', options)
  const until = pastTime('until', options)
  const query = { actor, action, since, until, offset, limit }
  return showAudit(query, await call(operations.listTenantAudit, { params: { slug: args[0]! }, query }))
}
