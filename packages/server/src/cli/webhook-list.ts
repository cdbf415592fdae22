import { operations } from '@sensorium/contract'
import type { Page } from '../ingest/registration.ts'
import { listWebhooks } from '../ingest/webhooks/list.ts'
import { checkedQuery, type Command } from './command.ts'
import { originOf } from './ingest-options.ts'
import { table } from './table.ts'

export const webhookList: Command = {
  words: ['webhook', 'list'],
  parameters: [],
  options: { tenant: 'slug', offset: 'number', limit: 'number' },
  summary: 'List the webhooks, newest first',
  async run({ options, config, withStore }) {
    const page = checkedQuery(operations.listWebhooks, { ...options }) as Page
    const json = await withStore((store) => listWebhooks(store, originOf(config()), page))
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
