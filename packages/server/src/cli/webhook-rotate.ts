import { operations } from '@sensorium/contract'
import { rotateWebhook } from '../ingest/webhooks/rotate.ts'
import { checkedBody, type Command } from './command.ts'
import { originOf } from './ingest-options.ts'

export const webhookRotate: Command = {
  words: ['webhook', 'rotate'],
  parameters: ['id'],
  options: { 'signing-secret': 'text' },
  summary: 'Replace the secret of a webhook; prints the new one, once. The old one holds for another 24 hours',
  async run({ args, options, config, withStore }) {
    const { signing_secret: given } = checkedBody(operations.rotateWebhook, {
      signing_secret: options['signing-secret'],
    })
    const json = await withStore((store, tools) =>
      store.tx((tx) => rotateWebhook(tx, tools, originOf(config()), args[0]!, given)),
    )
    return {
      json,
      text: `Signing secret (shown this once; the one before holds for 24 hours):  ${json.signing_secret}`,
    }
  },
}
