import { deleteWebhook } from '../ingest/webhooks/delete.ts'
import type { Command } from './command.ts'

export const webhookDelete: Command = {
  words: ['webhook', 'delete'],
  parameters: ['id'],
  summary: 'Delete a webhook; its secret verifies no longer',
  async run({ args, withStore }) {
    await withStore((store) => store.tx((tx) => deleteWebhook(tx, args[0]!)))
    return { json: null, text: `Webhook ${args[0]} is deleted.` }
  },
}
