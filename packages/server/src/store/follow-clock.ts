// Nodes that share a store go by its clock, because leases, delays and tokens are compared with times that other nodes
// wrote.
import type { Clock } from '../kernel/clock.ts'
import type { Store } from './db.ts'

/**
 * How often a node compares. Between two measurements it goes by the machine's monotonic clock, which setting the time
 * does not move. A virtual machine that was frozen is behind until the next one.
 */
export const FOLLOW_EVERY_MS = 2_000

/** Measures how far the node's clock is from the store's, and corrects it. Does nothing if the store has no clock. */
export async function followClock(store: Store, clock: Clock): Promise<void> {
  const asked = clock.elapsed()
  const time = await store.serverTime()
  if (time === null) return
  // The server read its clock somewhere between the request and the response. A response that took long says little,
  // and corrects little.
  const took = clock.elapsed() - asked
  clock.align(time, asked + took / 2, took / 2)
}
