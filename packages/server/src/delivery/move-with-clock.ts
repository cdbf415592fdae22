// Handles a machine clock that was set ahead: by an administrator, by a time server, or because the machine slept.
// Leases and waits are lengths of time, and none of that time has passed. So their ends move with the clock, in the
// transaction in which the clock takes the step. The next transaction finds both moved.
//
// Only for a store with one node. Nodes that share a store go by the store's clock and not by the machine's.
import type { Clock } from '../kernel/clock.ts'
import type { Store } from '../store/db.ts'
import { moveEnds } from './sql.ts'

/** How long the node's time may go on without taking a step of the machine's clock. */
export const MOVE_EVERY_MS = 1_000

/**
 * Takes a held step of the clock and moves all leases and waits along. If the store refuses the commit, the clock has
 * taken the step and the leases end early, as after a power cut: a clock that waited for a full disk would show a wrong
 * time for as long.
 */
export async function moveWithClock(store: Store, clock: Clock): Promise<void> {
  if (clock.heldStep() === 0) return
  await store.tx(async (tx) => {
    const now = clock.now()
    await moveEnds(tx, clock.takeStep(), now)
  })
}
