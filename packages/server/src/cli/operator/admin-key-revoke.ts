import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'

export const run: OperatorRun = async ({ args, call }) => {
  await call(operations.revokeAdminKey, { params: { slug: args[0]!, key_id: args[1]! } })
  return { json: null, text: `Key ${args[1]} is revoked.` }
}
