// The leases that a stream holds: those it claimed, until they are settled or belong to another holder.
import type { EndingLease, Lease } from '../delivery/claimed.ts'
import type { LeaseRow } from './sql.ts'

export interface HeldLeases {
  readonly size: number
  has(id: string): boolean
  add(claimed: readonly EndingLease[]): void
  /** Removes deliveries that are acknowledged or gone. Returns whether one of them was held. */
  settled(ids: readonly string[]): boolean
  /** Removes leases that were given back, by their numbers: a delivery may have been claimed again since. */
  givenBack(ended: readonly Lease[]): boolean
  /** Takes over what the store says about the leases in `asked`, by id. One without a row is over. */
  refresh(asked: readonly Lease[], rows: ReadonlyMap<string, LeaseRow>): void
  /** The leases as they were claimed, whatever their ends are by now. */
  list(): EndingLease[]
  /** When the first lease lapses. */
  lapsesAt(): number
}

export function makeHeldLeases(): HeldLeases {
  const leases = new Map<string, { claimed: EndingLease; until: number }>()

  return {
    get size() {
      return leases.size
    },
    has: (id) => leases.has(id),
    add(claimed) {
      for (const { id, lease, until } of claimed) leases.set(id, { claimed: { id, lease, until }, until })
    },
    settled(ids) {
      let freed = false
      for (const id of ids) freed = leases.delete(id) || freed
      return freed
    },
    givenBack(ended) {
      let freed = false
      for (const { id, lease } of ended) if (leases.get(id)?.claimed.lease === lease) freed = leases.delete(id)
      return freed
    },
    refresh(asked, rows) {
      for (const { id, lease } of asked) {
        const known = leases.get(id)
        // A delivery that was claimed again during the query is not what the store was asked about.
        if (known?.claimed.lease !== lease) continue
        const row = rows.get(id)
        if (row?.leases !== lease) leases.delete(id)
        else known.until = row.due_at
      }
    },
    list: () => Array.from(leases.values(), ({ claimed }) => claimed),
    lapsesAt() {
      let first = Infinity
      for (const { until } of leases.values()) first = Math.min(first, until)
      return first
    },
  }
}
