// The settings of tenants: the environment sets the values for all, and the operator may set another value for one.
//
// 1. Every node caches the settings of all tenants that have any, so that reading them costs nothing.
// 2. A change takes effect at once on the node that made it, and within a second on every other node and on a service
//    beside the command line: each looks for newer versions twice a second. Versions are given out under a lock, so
//    they are committed in their order and none is skipped.
// 3. A version is given out again if its commit was lost with a server, or the data was put back from a copy. So each
//    look reads the last settings seen once more: if they have changed, or are gone, all settings are read again.
import { TENANT_SETTINGS, type TenantSettings } from '@sensorium/contract'
import type { Db, Store } from '../store/db.ts'
import { requireTenant } from './get.ts'
import { findSettings, nextSettingsVersion, readSettingsFrom, saveSettings, type SettingsRow } from './sql.ts'

/** Nothing set: the defaults hold. */
export const NO_SETTINGS: TenantSettings = Object.fromEntries(
  TENANT_SETTINGS.map((name) => [name, null]),
) as unknown as TenantSettings

// A setting that came with a later release is missing in what was stored before.
const readText = (text: string): TenantSettings => ({
  ...NO_SETTINGS,
  ...(JSON.parse(text) as Partial<TenantSettings>),
})

/** The settings of a tenant at this moment; the same object until they change. */
export type SettingsOf = (tenantId: string) => TenantSettings

/** Returns what follows from a tenant's settings: computed once, and the same object until they change. */
export function derived<T extends object>(
  settingsOf: SettingsOf,
  derive: (settings: TenantSettings) => T,
): (tenantId: string) => T {
  const known = new WeakMap<TenantSettings, T>()
  return (tenantId) => {
    const settings = settingsOf(tenantId)
    let value = known.get(settings)
    if (!value) known.set(settings, (value = derive(settings)))
    return value
  }
}

export interface SettingsCache {
  of: SettingsOf
  /** Caches the settings that this process has just changed, and their version. */
  keep(tenantId: string, settings: TenantSettings, version: number): void
  /** Looks for settings that other processes changed. */
  runOnce(): Promise<void>
}

export function makeSettingsCache(store: Store): SettingsCache {
  const known = new Map<string, { settings: TenantSettings; version: number }>()
  let last: SettingsRow | null = null

  /** Caches settings, unless this process has newer ones. */
  function keep(tenantId: string, settings: TenantSettings, version: number): void {
    if (version >= (known.get(tenantId)?.version ?? 0)) known.set(tenantId, { settings, version })
  }

  const isLast = (row: SettingsRow): boolean => row.version === last!.version && row.settings === last!.settings
  /** Whether the last settings seen are among these rows, or newer ones of the same tenant. */
  const isContinued = (rows: readonly SettingsRow[]): boolean =>
    rows.some((row) => row.tenant_id === last!.tenant_id && (row.version > last!.version || isLast(row)))

  async function readAll(): Promise<SettingsRow[]> {
    const before = new Map(known)
    const rows = await readSettingsFrom(store, 0)
    // What this process changed during the read stays.
    for (const [tenantId, entry] of known) if (before.get(tenantId) === entry) known.delete(tenantId)
    return rows
  }

  async function readNew(from: SettingsRow): Promise<SettingsRow[]> {
    const rows = await readSettingsFrom(store, from.version)
    return isContinued(rows) ? rows.filter((row) => !isLast(row)) : readAll()
  }

  return {
    of: (tenantId) => known.get(tenantId)?.settings ?? NO_SETTINGS,
    keep,
    async runOnce() {
      const rows = await (last === null ? readAll() : readNew(last))
      for (const { tenant_id, settings, version } of rows) keep(tenant_id, readText(settings), version)
      last = rows.at(-1) ?? last
    },
  }
}

export async function readSettings(db: Db, slug: string): Promise<TenantSettings> {
  const { tenant_id } = await requireTenant(db, slug)
  const row = await findSettings(db, tenant_id)
  return row ? readText(row.settings) : NO_SETTINGS
}

/** Sets the given settings and leaves the rest as they are; null restores the default. */
export async function changeSettings(
  tx: Db,
  cache: Pick<SettingsCache, 'keep'> | null,
  slug: string,
  changes: Partial<TenantSettings>,
): Promise<TenantSettings> {
  const { tenant_id } = await requireTenant(tx, slug)
  // Taking a version locks the counter, so that two changes follow each other.
  const version = await nextSettingsVersion(tx)
  const row = await findSettings(tx, tenant_id)
  // Only known settings: a body may carry anything else, which is ignored.
  const given = TENANT_SETTINGS.filter((name) => changes[name] !== undefined).map((name) => [name, changes[name]])
  const settings: TenantSettings = { ...(row ? readText(row.settings) : NO_SETTINGS), ...Object.fromEntries(given) }
  await saveSettings(tx, tenant_id, JSON.stringify(settings), version)
  tx.afterCommit(() => cache?.keep(tenant_id, settings, version))
  return settings
}
