import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'

export const run: OperatorRun = async ({ args, call }) => {
  await call(operations.deleteWebhook, { params: { id: args[0]! } })
  return { json: null, text: `Webhook ${args[0]} is deleted.` }
}
