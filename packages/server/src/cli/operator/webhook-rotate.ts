import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'

export const run: OperatorRun = async ({ args, options, call }) => {
  const body = { signing_secret: options['signing-secret'] }
  const json = await call(operations.rotateWebhook, { params: { id: args[0]! }, body })
  return {
    json,
    text: `Signing secret (shown this once; the one before holds for 24 hours):  ${json.signing_secret}`,
  }
}
