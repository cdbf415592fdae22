// Nodes that share a store go by its clock, because leases, delays and tokens are compared with times that other nodes
// wrote.
import type { Clock } from '../kernel/clock.ts'
import type { Store } from './db.ts'
import { readSetting, writeSetting } from './setting.ts'

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

/**
 * Nodes agree to within this. A measurement of a slow database may be wrong by half of the five seconds that it may
 * take, and nodes must not take that over from each other.
 */
const AGREED_MS = 5_000

/** A note is at most this old while a node that wrote it runs. */
const NOTED_EVERY_MS = 2_000

/**
 * A clock that was ahead by more than this is no time to keep to: once all nodes have stopped, the next one is right.
 */
const KEPT_AT_START_MS = 86_400_000

/** How far nodes were ahead of the store's clock, and the time that they had reached then. */
interface Note {
  ahead: number
  reached: number
}

async function readNote(store: Store): Promise<Note> {
  const [ahead = 0, reached = 0] = ((await readSetting(store, 'ahead')) ?? '').split(' ').map(Number)
  return { ahead, reached }
}

/**
 * After the store's clock was set back, the nodes that saw the later time stay ahead of it for a while. A node that did
 * not see it, or started since, goes ahead as far: otherwise the two would hand out the same delivery, and refuse the
 * tokens of each other. It never goes beyond what they have reached, however the store's clock was set meanwhile.
 */
export async function agreeOnTime(store: Store, clock: Clock, isStart = false): Promise<void> {
  if (!store.isShared) return
  const note = await readNote(store)
  const now = clock.now()
  const ahead = clock.ahead()
  const behind = note.reached - now
  const keeps = !isStart || note.ahead <= KEPT_AT_START_MS
  if (keeps && behind > AGREED_MS && note.ahead - ahead > AGREED_MS)
    return clock.catchUp(Math.min(note.ahead, ahead + behind + NOTED_EVERY_MS))
  if (ahead > AGREED_MS || note.ahead > 0) {
    const value = ahead > AGREED_MS ? `${ahead} ${now}` : '0'
    await store.tx((tx) => writeSetting(tx, 'ahead', value), { mayBeLost: true })
  }
}
