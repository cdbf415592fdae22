import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'

export const webhookRotate: Command = {
  words: ['webhook', 'rotate'],
  parameters: ['id'],
  options: { 'signing-secret': 'text' },
  summary: 'Replace the secret of a webhook; prints the new one, once. The old one holds for another 24 hours',
  async run({ args, options, call }) {
    const body = { signing_secret: options['signing-secret'] }
    const json = await call(operations.rotateWebhook, { params: { id: args[0]! }, body })
    return {
      json,
      text: `Signing secret (shown this once; the one before holds for 24 hours):  ${json.signing_secret}`,
    }
  },
}
