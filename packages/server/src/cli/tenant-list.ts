import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'
import { table } from './table.ts'

export const tenantList: Command = {
  words: ['tenant', 'list'],
  parameters: [],
  options: { offset: 'number', limit: 'number' },
  summary: 'List the tenants, newest first',
  async run({ options, call }) {
    const json = await call(operations.listTenants, { query: options })
    const rows = json.tenants.map(({ slug, name, id, created_at }) => [slug, name, id, created_at])
    return { json, text: `${table(['slug', 'name', 'id', 'created'], rows)}\n${rows.length} of ${json.total}` }
  },
}
