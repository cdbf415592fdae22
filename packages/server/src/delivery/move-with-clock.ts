// Handles a machine clock that was set: by an administrator, by a time server, or because the machine slept. Leases and
// waits are lengths of time, and none of that time has passed, so their ends move with the clock.
//
// 1. Set ahead: they move in the transaction in which the node's time takes the step. The next one finds both moved.
// 2. Set back: the time of a running node does not go back (kernel/clock.ts), but the next process begins with the
//    machine's time. The time is written down now and then; a process that begins earlier moves the ends back.
//
// Only for a store with one node. Nodes that share a store go by the store's clock and not by the machine's.
import type { Clock } from '../kernel/clock.ts'
import type { Db, Store } from '../store/db.ts'
import { readSetting, writeSetting } from '../store/setting.ts'
import { moveEnds } from './sql.ts'

/** Writes down the time of this node, the only one. */
const writeTime = (tx: Db, now: number): Promise<number> => writeSetting(tx, 'time', String(now))

export async function noteTime(store: Store, clock: Clock): Promise<void> {
  if (!store.isShared) await store.tx((tx) => writeTime(tx, clock.now()), { mayBeLost: true })
}

/** Called on start. If the time is earlier than the one that was noted, moves all leases and waits back. */
export async function moveBackWithClock(store: Store, clock: Clock): Promise<void> {
  if (store.isShared) return
  await store.tx(async (tx) => {
    const now = clock.now()
    const ahead = Number((await readSetting(tx, 'time')) ?? 0) - now
    if (ahead > 0) await moveEnds(tx, -ahead, now)
    await writeTime(tx, now)
  })
}

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
    // If the step is taken back while the service is down, the next process moves them back.
    await writeTime(tx, clock.now())
  })
}
