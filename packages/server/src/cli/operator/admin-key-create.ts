import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'

export const run: OperatorRun = async ({ args, call }) => {
  const json = await call(operations.createAdminKey, { params: { slug: args[0]! } })
  return { json, text: `Org-admin key (shown this once):  ${json.admin_key}` }
}
