import { operations } from '@sensorium/contract'
import { createTenant } from '../tenants/create.ts'
import { checkedBody, type Command } from './command.ts'

export const tenantCreate: Command = {
  words: ['tenant', 'create'],
  parameters: ['slug'],
  options: { name: 'text' },
  summary: 'Make a tenant; prints its org-admin key, once',
  async run({ args, options, withStore }) {
    const { slug, name } = checkedBody(operations.createTenant, { slug: args[0]!, name: options['name'] })
    const json = await withStore((store, tools) => store.tx((tx) => createTenant(tx, tools, slug, name)))
    const { tenant, admin_key } = json
    return {
      json,
      text: `Tenant ${tenant.slug} is made (${tenant.id}, ${tenant.name}).\nOrg-admin key (shown this once):  ${admin_key}`,
    }
  },
}
