// The first start on an empty store: one tenant and its org-admin key, shown once.
import type { KeyTools } from './auth/keys.ts'
import type { Config } from './config.ts'
import { Failure } from './kernel/failure.ts'
import type { Store } from './store/db.ts'
import { createTenant } from './tenants/create.ts'
import { isAnyTenant } from './tenants/sql.ts'

/**
 * Returns the org-admin key if this was the first start, or null if there was a tenant. Nodes that start together make
 * one tenant.
 */
export async function bootstrap(store: Store, config: Config, tools: KeyTools): Promise<string | null> {
  try {
    return await store.tx(async (tx) => {
      if (await isAnyTenant(tx)) return null
      const { admin_key } = await createTenant(
        tx,
        tools,
        config.bootstrapTenant,
        config.bootstrapTenant,
        config.bootstrapAdminKey ?? undefined,
      )
      return admin_key
    })
  } catch (error) {
    if (error instanceof Failure && error.code === 'conflict') return null
    throw error
  }
}
