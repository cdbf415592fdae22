// The state that the reading connection sees: one state for all reads of a turn, and the state before a commit until
// the commit is on disk, if that may take a while.
import type { DatabaseSync } from 'node:sqlite'

export interface Snapshot {
  /** Begins a snapshot: all reads of this turn, and while it is held, see one state. */
  open(): void
  hold(): void
  isHeld(): boolean
  /** Ends the hold: the next read sees the newest state. */
  release(): void
}

export function makeSnapshot(reader: DatabaseSync): Snapshot {
  // A read that touches a page in any store, also an empty one.
  const look = reader.prepare('select 1 from sqlite_schema limit 1')
  let taken = false
  let held = false
  function end(): void {
    if (!taken || held || !reader.isOpen) return
    taken = false
    reader.exec('commit')
  }
  function open(): void {
    if (taken) return
    reader.exec('begin')
    taken = true
    setImmediate(end)
  }
  return {
    open,
    hold() {
      open()
      look.get() // a transaction has no state before its first read
      held = true
    },
    isHeld: () => held,
    release() {
      held = false
      end()
    },
  }
}
