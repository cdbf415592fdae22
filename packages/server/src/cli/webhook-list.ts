import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'
import { table } from './table.ts'

export const webhookList: Command = {
  words: ['webhook', 'list'],
  parameters: [],
  options: { tenant: 'slug', offset: 'number', limit: 'number' },
  summary: 'List the webhooks, newest first',
  async run({ options, call }) {
    const json = await call(operations.listWebhooks, { query: options })
    const rows = json.webhooks.map(({ id, tenant, source, preset, url, created_at }) => [
      id,
      tenant,
      source,
      preset ?? '',
      url,
      created_at,
    ])
    return {
      json,
      text: `${table(['id', 'tenant', 'source', 'preset', 'url', 'created'], rows)}\n${rows.length} of ${json.total}`,
    }
  },
}
