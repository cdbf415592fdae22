// Nodes that share a store add up their counts: each writes its own and reads those of all.
import type { Insert, Store } from '../store/db.ts'
import { SLICES, type Window, type Windows } from './windows.ts'

const TELL: Insert = {
  into: 'rate_windows',
  columns: { tenant_id: 'text', subject: 'text', slot: 'bigint', used: 'bigint', expires_at: 'bigint' },
  conflict: 'on conflict (tenant_id, subject, slot) do update set used = rate_windows.used + excluded.used',
}

interface Told {
  key: string
  window: Window
  untold: Map<number, number>
}

/** Splits a key into tenant and subject. */
const split = (key: string): [string, string] => [key.slice(0, key.indexOf(' ')), key.slice(key.indexOf(' ') + 1)]

/**
 * Tells the store what this node took, and learns what all nodes took. Returns whether the store could be reached. Uses
 * one transaction or, if the tenants are spread over several machines, one for each tenant.
 */
export async function tellStore(store: Store, windows: Windows): Promise<boolean> {
  const telling: Told[] = []
  for (const [key, window] of windows.byKey) {
    if (window.untoldTotal === 0) continue
    telling.push({ key, window, untold: window.untold })
    window.untold = new Map()
  }
  if (telling.length === 0) return true
  const groups = store.isSharded ? [...Map.groupBy(telling, ({ key }) => split(key)[0]).values()] : [telling]
  const told = await Promise.all(groups.map((group) => tellGroup(store, windows, group)))
  return told.every(Boolean)
}

async function tellGroup(store: Store, { sliceMs, ring, time }: Windows, telling: readonly Told[]): Promise<boolean> {
  const rows = telling
    .flatMap(({ key, untold }) =>
      [...untold].map(([slice, n]) => [...split(key), slice, n, Math.ceil((slice + 2 * ring) * sliceMs)] as const),
    )
    // Every node writes in the same order, so that two of them never deadlock.
    .sort((a, b) => (a[0] + a[1] + a[2] < b[0] + b[1] + b[2] ? -1 : 1))
  try {
    const known = await store.tx(async (tx) => {
      await tx.insertMany(TELL, rows)
      const tenants = [...new Set(telling.map(({ key }) => split(key)[0]))]
      const isOne = tenants.length === 1
      return tx.rows<{ tenant_id: string; subject: string; slot: number; used: number }>(
        `select tenant_id, subject, slot, used from rate_windows
          where ${isOne ? 'tenant_id = ?' : tx.dialect.inList('tenant_id')} and ${tx.dialect.inList('subject')} and slot >= ?`,
        [
          isOne ? tenants[0]! : tx.dialect.list(tenants),
          tx.dialect.list([...new Set(telling.map(({ key }) => split(key)[1]))]),
          Math.floor(time() / sliceMs) - SLICES,
        ],
      )
    })
    const bySubject = Map.groupBy(known, (row) => `${row.tenant_id} ${row.subject}`)
    for (const { key, window, untold } of telling) {
      for (const n of untold.values()) window.untoldTotal -= n
      window.counts.fill(0)
      window.total = 0
      const add = (slice: number, n: number): void => {
        if (slice > window.newest || slice < window.newest - SLICES) return
        window.counts[slice % ring]! += n
        window.total += n
      }
      for (const { slot, used } of bySubject.get(key) ?? []) add(slot, used)
      for (const [slice, n] of window.untold) add(slice, n)
    }
    return true
  } catch {
    // The store is unavailable: the counts known here still apply, and the untold ones are told the next time.
    for (const { window, untold } of telling) {
      for (const [slice, n] of untold) window.untold.set(slice, (window.untold.get(slice) ?? 0) + n)
    }
    return false
  }
}
