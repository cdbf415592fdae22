// The leases that a stream holds: what it claimed, until that is settled or in other hands.
import type { HeldLease } from '../delivery/wake.ts'
import type { LeaseRow } from './sql.ts'

export interface HeldLeases {
  readonly size: number
  has(id: string): boolean
  add(claimed: readonly (HeldLease & { until: number })[]): void
  /** These deliveries are acknowledged, or gone; returns whether one of them was held. */
  settled(ids: readonly string[]): boolean
  /** These leases are over. By their numbers: a delivery may have been claimed again since. */
  released(ended: readonly HeldLease[]): boolean
  /** What the store says about leases that it was asked about; those it does not name are in other hands. */
  refresh(asked: readonly HeldLease[], rows: readonly LeaseRow[], now: number): void
  list(): HeldLease[]
  /** When the first of them lapses. */
  lapsesAt(): number
}

export function makeHeldLeases(): HeldLeases {
  const leases = new Map<string, { lease: number; until: number }>()

  return {
    get size() {
      return leases.size
    },
    has: (id) => leases.has(id),
    add(claimed) {
      for (const { id, lease, until } of claimed) leases.set(id, { lease, until })
    },
    settled(ids) {
      let freed = false
      for (const id of ids) freed = leases.delete(id) || freed
      return freed
    },
    released(ended) {
      let freed = false
      for (const { id, lease } of ended) if (leases.get(id)?.lease === lease) freed = leases.delete(id)
      return freed
    },
    refresh(asked, rows, now) {
      const still = new Map(rows.map((row) => [row.id, row]))
      for (const { id, lease } of asked) {
        const known = leases.get(id)
        // What was claimed while the store was asked is nothing that it was asked about.
        if (known?.lease !== lease) continue
        const row = still.get(id)
        if (row?.leases !== lease || row.due_at <= now) leases.delete(id)
        else known.until = row.due_at
      }
    },
    list: () => [...leases].map(([id, { lease }]) => ({ id, lease })),
    lapsesAt() {
      let first = Infinity
      for (const { until } of leases.values()) first = Math.min(first, until)
      return first
    },
  }
}
