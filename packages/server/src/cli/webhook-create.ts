import { operations } from '@sensorium/contract'
import { createWebhook, type NewWebhook } from '../ingest/webhooks/create.ts'
import { checkedBody, type Command } from './command.ts'
import { MAPPING_OPTIONS, mappingOf, originOf } from './ingest-options.ts'

export const webhookCreate: Command = {
  words: ['webhook', 'create'],
  parameters: [],
  options: { tenant: 'slug', source: 'name', preset: 'github|stripe', ...MAPPING_OPTIONS, 'signing-secret': 'text' },
  summary: 'Register a webhook for events from outside; prints its signing secret, once',
  async run({ options, config, withStore }) {
    const { tenant, source, preset, 'signing-secret': signing_secret } = options
    const given = { tenant, source, preset, mapping: mappingOf(options), signing_secret }
    const body = checkedBody(operations.createWebhook, given) as unknown as NewWebhook
    const json = await withStore((store, tools) => store.tx((tx) => createWebhook(tx, tools, originOf(config()), body)))
    const { webhook, url, signing_secret: secret } = json
    return {
      json,
      text: `Webhook ${webhook.id} is made: ${webhook.source} posts to ${url}\nSigning secret (shown this once):  ${secret}`,
    }
  },
}
