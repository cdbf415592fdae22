// Nodes that share a store add up their counts: each writes its own and reads those of all.
import type { Db, Insert, Store } from '../store/db.ts'
import { keyOf, SLICES, type RateWindow, type RateWindows } from './rate-windows.ts'

const ADD_COUNTS: Insert = {
  into: 'rate_windows',
  columns: { tenant_id: 'text', subject: 'text', slot: 'bigint', used: 'bigint', expires_at: 'bigint' },
  conflict: 'on conflict (tenant_id, subject, slot) do update set used = rate_windows.used + excluded.used',
}

interface Pending {
  window: RateWindow
  /** What is written. Further requests are counted in a new `window.unsynced` meanwhile. */
  unsynced: Map<number, number>
}

/**
 * Writes what this node took, and reads what all nodes took. Returns whether the store could be reached. Uses one
 * transaction or, if the tenants are spread over several machines, one for each tenant.
 */
export async function syncCounts(store: Store, windows: RateWindows): Promise<boolean> {
  const pending: Pending[] = []
  for (const window of windows.all()) {
    if (window.unsyncedTotal === 0) continue
    pending.push({ window, unsynced: window.unsynced })
    window.unsynced = new Map()
  }
  if (pending.length === 0) return true
  const groups = store.isSharded ? [...Map.groupBy(pending, ({ window }) => window.tenantId).values()] : [pending]
  const synced = await Promise.all(groups.map((group) => syncGroup(store, windows, group)))
  return synced.every(Boolean)
}

async function syncGroup(store: Store, windows: RateWindows, pending: readonly Pending[]): Promise<boolean> {
  const { sliceMs, ring, time } = windows
  const rows = pending
    .flatMap(({ window: { tenantId, name }, unsynced }) =>
      [...unsynced].map(([slice, n]) => [tenantId, name, slice, n, Math.ceil((slice + 2 * ring) * sliceMs)] as const),
    )
    // Every node writes in the same order, so that two of them never deadlock.
    .sort((a, b) => (a[0] + a[1] + a[2] < b[0] + b[1] + b[2] ? -1 : 1))
  try {
    const ofAllNodes = await store.tx(async (tx) => {
      await tx.insertMany(ADD_COUNTS, rows)
      return readCounts(tx, pending, Math.floor(time() / sliceMs) - SLICES)
    })
    for (const { window, unsynced } of pending) {
      for (const n of unsynced.values()) window.unsyncedTotal -= n
      const counts = ofAllNodes.get(keyOf(window.tenantId, window.name)) ?? []
      windows.recount(window, [...counts.map(({ slot, used }) => [slot, used] as const), ...window.unsynced])
    }
    return true
  } catch {
    // The store is unavailable: the counts known here still apply, and the unsynced ones are written the next time.
    for (const { window, unsynced } of pending) {
      for (const [slice, n] of unsynced) window.unsynced.set(slice, (window.unsynced.get(slice) ?? 0) + n)
    }
    return false
  }
}

interface CountRow {
  tenant_id: string
  subject: string
  slot: number
  used: number
}

/** Returns what all nodes took in these windows from a slice on, by the keys of the windows. Locks nothing. */
async function readCounts(tx: Db, pending: readonly Pending[], from: number): Promise<Map<string, CountRow[]>> {
  const tenants = [...new Set(pending.map(({ window }) => window.tenantId))]
  const names = [...new Set(pending.map(({ window }) => window.name))]
  const isOne = tenants.length === 1
  const rows = await tx.rows<CountRow>(
    `select tenant_id, subject, slot, used from rate_windows
      where ${isOne ? 'tenant_id = ?' : tx.dialect.inList('tenant_id')} and ${tx.dialect.inList('subject')} and slot >= ?`,
    [isOne ? tenants[0]! : tx.dialect.list(tenants), tx.dialect.list(names), from],
  )
  return Map.groupBy(rows, ({ tenant_id, subject }) => keyOf(tenant_id, subject))
}
