import { operations } from '@sensorium/contract'
import type { OperatorRun } from '../command.ts'

export const run: OperatorRun = async ({ args, secret: readSecret, call }) => {
  const signing_secret = await readSecret('signing-secret', 'WEBHOOK_SIGNING_SECRET')
  const json = await call(operations.rotateWebhook, { params: { id: args[0]! }, body: { signing_secret } })
  return {
    json,
    text: `Signing secret (shown this once; the one before holds for 24 hours):  ${json.signing_secret}`,
  }
}
