// The settings of tenants: what the environment says holds for all, and the operator may set another value for one.
//
// 1. Every node keeps the settings of all tenants that have any, so that asking for them costs nothing.
// 2. A change holds at once on the node that made it, and on every other, and beside a command line, within a second:
//    each looks for newer versions twice a second. Versions are given out under a lock, so they are committed in their
//    order and none is passed over.
import { TENANT_SETTINGS, type TenantSettings } from '@sensorium/contract'
import type { Db, Store } from '../store/db.ts'
import { requireTenant } from './create.ts'
import { findSettings, nextSettingsVersion, readSettingsAfter, saveSettings } from './sql.ts'

export const LOOK_EVERY_MS = 500

/** Nothing set: the defaults hold. */
export const NO_SETTINGS: TenantSettings = Object.fromEntries(
  TENANT_SETTINGS.map((name) => [name, null]),
) as unknown as TenantSettings

// A setting that came with a later release is not in what was stored before.
const readText = (text: string): TenantSettings => ({
  ...NO_SETTINGS,
  ...(JSON.parse(text) as Partial<TenantSettings>),
})

/** The settings of a tenant at this moment; the same object until they change. */
export type SettingsOf = (tenantId: string) => TenantSettings

export interface SettingsCache {
  of: SettingsOf
  /** What this process has just changed, and the version of that. */
  keep(tenantId: string, settings: TenantSettings, version: number): void
  /** Looks for what other processes changed. */
  runOnce(): Promise<void>
}

export function makeSettingsCache(store: Store): SettingsCache {
  const known = new Map<string, { settings: TenantSettings; version: number }>()
  let seenUpTo = 0

  return {
    of: (tenantId) => known.get(tenantId)?.settings ?? NO_SETTINGS,
    keep: (tenantId, settings, version) => void known.set(tenantId, { settings, version }),
    async runOnce() {
      for (const { tenant_id, settings, version } of await readSettingsAfter(store, seenUpTo)) {
        seenUpTo = version
        // What this process changed while the look was under way is newer.
        if (version < (known.get(tenant_id)?.version ?? 0)) continue
        known.set(tenant_id, { settings: readText(settings), version })
      }
    },
  }
}

export async function readSettings(db: Db, slug: string): Promise<TenantSettings> {
  const { tenant_id } = await requireTenant(db, slug)
  const row = await findSettings(db, tenant_id)
  return row ? readText(row.settings) : NO_SETTINGS
}

/** Sets what is given and leaves the rest as it is; null goes back to the default. */
export async function changeSettings(
  tx: Db,
  cache: Pick<SettingsCache, 'keep'> | null,
  slug: string,
  changes: Partial<TenantSettings>,
): Promise<TenantSettings> {
  const { tenant_id } = await requireTenant(tx, slug)
  // Holding the counter lets two changes follow each other.
  const version = await nextSettingsVersion(tx)
  const row = await findSettings(tx, tenant_id)
  // Only these: a body may carry anything else, and it is ignored.
  const given = TENANT_SETTINGS.filter((name) => changes[name] !== undefined).map((name) => [name, changes[name]])
  const settings: TenantSettings = { ...(row ? readText(row.settings) : NO_SETTINGS), ...Object.fromEntries(given) }
  await saveSettings(tx, tenant_id, JSON.stringify(settings), version)
  tx.afterCommit(() => cache?.keep(tenant_id, settings, version))
  return settings
}
