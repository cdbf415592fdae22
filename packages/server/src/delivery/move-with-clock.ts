// The machine's clock was set ahead: by an administrator, by a time server, or because the machine slept. Leases and
// waits are lengths of time, and none of them has passed. So their ends move with the clock, in the transaction in which
// the clock takes the step: whichever transaction comes next finds both moved.
//
// Only for a store with one node. Nodes that share one go by its clock and not by the machine's.
import type { Clock } from '../kernel/clock.ts'
import type { Store } from '../store/db.ts'
import { moveEnds } from './sql.ts'

/** How long the node's time may go on without a step of the machine's clock. */
export const MOVE_EVERY_MS = 1_000

/**
 * Should the store refuse the commit, the clock has taken the step and the leases end early, as after a power cut: a
 * clock that waited for a full disk would show a wrong time for as long.
 */
export async function moveWithClock(store: Store, clock: Clock): Promise<void> {
  if (clock.heldStep() === 0) return
  await store.tx(async (tx) => {
    const now = clock.now()
    await moveEnds(tx, clock.takeStep(), now)
  })
}
