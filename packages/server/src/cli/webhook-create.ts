import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'
import { MAPPING_OPTIONS, mappingOf } from './ingest-options.ts'

export const webhookCreate: Command = {
  words: ['webhook', 'create'],
  parameters: [],
  options: { tenant: 'slug', source: 'name', preset: 'github|stripe', ...MAPPING_OPTIONS, 'signing-secret': 'text|-' },
  summary: 'Register a webhook for events from outside; prints its signing secret, once',
  async run({ options, secret: readSecret, call }) {
    const { tenant, source, preset } = options
    const signing_secret = await readSecret('signing-secret', 'WEBHOOK_SIGNING_SECRET')
    const body = { tenant, source, preset, mapping: mappingOf(options), signing_secret }
    const json = await call(operations.createWebhook, { body })
    const { webhook, signing_secret: secret } = json
    return {
      json,
      text: `Webhook ${webhook.id} is made: ${webhook.source} posts to ${webhook.own_url}\nSigning secret (shown this once):  ${secret}`,
    }
  },
}
