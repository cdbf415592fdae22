// Nodes that share a store go by its clock, because leases, delays and tokens are compared with times that other nodes
// wrote.
import type { Clock } from '../kernel/clock.ts'
import type { Store } from './db.ts'

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
