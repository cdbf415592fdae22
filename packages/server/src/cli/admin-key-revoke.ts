import { operations } from '@sensorium/contract'
import type { Command } from './command.ts'

export const adminKeyRevoke: Command = {
  words: ['admin-key', 'revoke'],
  parameters: ['slug', 'key-id'],
  summary: 'Revoke an org-admin key; its tokens end within a second. The last one cannot be revoked',
  async run({ args, call }) {
    await call(operations.revokeAdminKey, { params: { slug: args[0]!, key_id: args[1]! } })
    return { json: null, text: `Key ${args[1]} is revoked.` }
  },
}
