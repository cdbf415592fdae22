import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'
import { table } from './table.ts'

export const adminKeyList: Command = {
  words: ['admin-key', 'list'],
  parameters: ['slug'],
  summary: 'List the org-admin keys of a tenant, newest first',
  async run({ args, call }) {
    const json = await call(operations.listAdminKeys, { params: { slug: args[0]! } })
    const rows = json.keys.map(({ id, prefix, created_at, last_used_at }) => [
      id,
      prefix,
      created_at,
      last_used_at ?? 'never',
    ])
    return { json, text: table(['id', 'prefix', 'created', 'last used'], rows) }
  },
}
