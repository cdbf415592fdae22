import { operations } from '@sensorium/contract'
import { listTenants } from '../tenants/create.ts'
import { checkedQuery, type Command } from './command.ts'
import { table } from './table.ts'

export const tenantList: Command = {
  words: ['tenant', 'list'],
  parameters: [],
  options: { offset: 'number', limit: 'number' },
  summary: 'List the tenants, newest first',
  async run({ options, withStore }) {
    const { offset, limit } = checkedQuery(operations.listTenants, { ...options }) as {
      offset?: number
      limit?: number
    }
    const json = await withStore((store) => listTenants(store, offset, limit))
    const rows = json.tenants.map(({ slug, name, id, created_at }) => [slug, name, id, created_at])
    return { json, text: `${table(['slug', 'name', 'id', 'created'], rows)}\n${rows.length} of ${json.total}` }
  },
}
