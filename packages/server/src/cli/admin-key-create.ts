import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'

export const adminKeyCreate: Command = {
  words: ['admin-key', 'create'],
  parameters: ['slug'],
  summary: 'Make another org-admin key for a tenant; prints it, once',
  async run({ args, call }) {
    const json = await call(operations.createAdminKey, { params: { slug: args[0]! } })
    return { json, text: `Org-admin key (shown this once):  ${json.admin_key}` }
  },
}
