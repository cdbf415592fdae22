// /operator: tenants, org-admin keys, usage. The command line calls the same operations.
import { operations } from '@sensorium/contract'
import type { KeyTools } from '../auth/keys.ts'
import type { Announce } from '../store/announce.ts'
import { createAdminKey, listAdminKeys, revokeAdminKey } from '../tenants/admin-keys.ts'
import { createTenant } from '../tenants/create.ts'
import { listTenants } from '../tenants/list.ts'
import { changeSettings, readSettings, type SettingsCache } from '../tenants/settings.ts'
import { readUsage } from '../tenants/usage.ts'
import { noContent, ok } from './response.ts'
import { browse, read, write, type Binding } from './binding.ts'

interface OperatorOperationTools extends KeyTools {
  announce: Announce
  /** This process's cache of tenant settings; null if no service runs in it. */
  settings: SettingsCache | null
}

export const operatorOperations = (tools: OperatorOperationTools): Binding[] => [
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

  read(operations.listAdminKeys, async ({ params }, db) => ok({ keys: await listAdminKeys(db, params.slug) })),

  write(operations.revokeAdminKey, async ({ params }, tx) => {
    await revokeAdminKey(tx, tools.announce, params.slug, params.key_id, tools.now())
    return noContent()
  }),

  read(operations.getTenantSettings, async ({ params }, db) => ok(await readSettings(db, params.slug))),

  write(operations.updateTenantSettings, async ({ params, body }, tx) =>
    ok(await changeSettings(tx, tools.settings, params.slug, body)),
  ),

  browse(operations.getUsage, async ({ query }, db) => ok(await readUsage(db, query.tenant))),
]
