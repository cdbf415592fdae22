import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'

export const run: OperatorRun = async ({ args, options, call }) => {
  const json = await call(operations.createTenant, { body: { slug: args[0]!, name: options['name'] } })
  const { tenant, admin_key } = json
  return {
    json,
    text: `Tenant ${tenant.slug} was created (${tenant.id}, ${tenant.name}).\nOrg-admin key (shown this once):  ${admin_key}`,
  }
}
