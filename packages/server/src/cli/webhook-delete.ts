import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'

export const webhookDelete: Command = {
  words: ['webhook', 'delete'],
  parameters: ['id'],
  summary: 'Delete a webhook; its secret verifies no longer',
  async run({ args, call }) {
    await call(operations.deleteWebhook, { params: { id: args[0]! } })
    return { json: null, text: `Webhook ${args[0]} is deleted.` }
  },
}
