// Nodes that share a store add up their counts: each writes its own and reads those of all.
import type { Insert, Store } from '../store/db.ts'
import { SLICES, type RateWindow, type RateWindows } from './rate-windows.ts'

const ADD_COUNTS: Insert = {
  into: 'rate_windows',
  columns: { tenant_id: 'text', subject: 'text', slot: 'bigint', used: 'bigint', expires_at: 'bigint' },
  conflict: 'on conflict (tenant_id, subject, slot) do update set used = rate_windows.used + excluded.used',
}

interface Pending {
  key: string
  window: RateWindow
  unsynced: Map<number, number>
}

/** Splits a key into tenant and subject. */
const split = (key: string): [string, string] => [key.slice(0, key.indexOf(' ')), key.slice(key.indexOf(' ') + 1)]

/**
 * Writes what this node took, and reads what all nodes took. Returns whether the store could be reached. Uses one
 * transaction or, if the tenants are spread over several machines, one for each tenant.
 */
export async function syncCounts(store: Store, windows: RateWindows): Promise<boolean> {
  const pending: Pending[] = []
  for (const [key, window] of windows.byKey) {
    if (window.unsyncedTotal === 0) continue
    pending.push({ key, window, unsynced: window.unsynced })
    window.unsynced = new Map()
  }
  if (pending.length === 0) return true
  const groups = store.isSharded ? [...Map.groupBy(pending, ({ key }) => split(key)[0]).values()] : [pending]
  const synced = await Promise.all(groups.map((group) => syncGroup(store, windows, group)))
  return synced.every(Boolean)
}

async function syncGroup(
  store: Store,
  { sliceMs, ring, time }: RateWindows,
  pending: readonly Pending[],
): Promise<boolean> {
  const rows = pending
    .flatMap(({ key, unsynced }) =>
      [...unsynced].map(([slice, n]) => [...split(key), slice, n, Math.ceil((slice + 2 * ring) * sliceMs)] as const),
    )
    // Every node writes in the same order, so that two of them never deadlock.
    .sort((a, b) => (a[0] + a[1] + a[2] < b[0] + b[1] + b[2] ? -1 : 1))
  try {
    const known = await store.tx(async (tx) => {
      await tx.insertMany(ADD_COUNTS, rows)
      const tenants = [...new Set(pending.map(({ key }) => split(key)[0]))]
      const isOne = tenants.length === 1
      return tx.rows<{ tenant_id: string; subject: string; slot: number; used: number }>(
        `select tenant_id, subject, slot, used from rate_windows
          where ${isOne ? 'tenant_id = ?' : tx.dialect.inList('tenant_id')} and ${tx.dialect.inList('subject')} and slot >= ?`,
        [
          isOne ? tenants[0]! : tx.dialect.list(tenants),
          tx.dialect.list([...new Set(pending.map(({ key }) => split(key)[1]))]),
          Math.floor(time() / sliceMs) - SLICES,
        ],
      )
    })
    const bySubject = Map.groupBy(known, (row) => `${row.tenant_id} ${row.subject}`)
    for (const { key, window, unsynced } of pending) {
      for (const n of unsynced.values()) window.unsyncedTotal -= n
      window.counts.fill(0)
      window.total = 0
      const add = (slice: number, n: number): void => {
        if (slice > window.newest || slice < window.newest - SLICES) return
        window.counts[slice % ring]! += n
        window.total += n
      }
      for (const { slot, used } of bySubject.get(key) ?? []) add(slot, used)
      for (const [slice, n] of window.unsynced) add(slice, n)
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
