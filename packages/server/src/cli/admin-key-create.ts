import { createAdminKey } from '../tenants/create.ts'
import type { Command } from './command.ts'

export const adminKeyCreate: Command = {
  words: ['admin-key', 'create'],
  parameters: ['slug'],
  summary: 'Make another org-admin key for a tenant; prints it, once',
  async run({ args, withStore }) {
    const admin_key = await withStore((store, tools) => store.tx((tx) => createAdminKey(tx, tools, args[0]!)))
    return { json: { admin_key }, text: `Org-admin key (shown this once):  ${admin_key}` }
  },
}
