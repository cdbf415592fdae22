// /operator: tenants, org-admin keys, usage. The command line calls the same functions.
import { operations } from '@sensorium/contract'
import type { KeyTools } from '../auth/keys.ts'
import { createAdminKey, createTenant, listTenants } from '../tenants/create.ts'
import { readUsage } from '../tenants/usage.ts'
import { ok } from './response.ts'
import { read, write, type Binding } from './binding.ts'

export const operatorOperations = (tools: KeyTools): Binding[] => [
  write(operations.createTenant, async ({ body }, tx) => {
    const json = await createTenant(tx, tools, body.slug, body.name)
    return { status: 201, json, resourceId: json.tenant.id, secret: true }
  }),

  read(operations.listTenants, async ({ query }, db) => ok(await listTenants(db, query.offset, query.limit))),

  write(operations.createAdminKey, async ({ params }, tx) => ({
    status: 201,
    json: { admin_key: await createAdminKey(tx, tools, params.slug) },
    secret: true,
  })),

  read(operations.getUsage, async ({ query }, db) => ok(await readUsage(db, query.tenant))),
]
