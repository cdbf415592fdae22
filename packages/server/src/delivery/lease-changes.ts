// Tells the holders of leases on this node, its streams, what became of leases that they may hold. Leases that end on
// another node are found by looking.
import type { Lease } from './claimed.ts'

interface LeaseHolder {
  /** These deliveries were acknowledged, so the holders of their leases have room again. */
  settled(recipientId: string, ids: readonly string[]): void
  /** These leases were given back, by their numbers: their deliveries may be leased again by now. */
  givenBack(recipientId: string, leases: readonly Lease[]): void
  /** Leases of this recipient last longer or shorter from now on. */
  extended(recipientId: string): void
}

export interface LeaseChanges extends LeaseHolder {
  /** Registers a holder of leases, which is notified of all three. */
  watch(holder: LeaseHolder): void
}

export function makeLeaseChanges(): LeaseChanges {
  const holders: LeaseHolder[] = []
  return {
    settled(recipientId, ids) {
      for (const holder of holders) holder.settled(recipientId, ids)
    },
    givenBack(recipientId, leases) {
      for (const holder of holders) holder.givenBack(recipientId, leases)
    },
    extended(recipientId) {
      for (const holder of holders) holder.extended(recipientId)
    },
    watch: (holder) => void holders.push(holder),
  }
}
