// The windows that rate limits count in, one for each subject. A window consists of slices, numbered since 1970 or, on
// a single node, since some other moment; the oldest leave one by one.
import type { Clock } from '../kernel/clock.ts'

export const SLICES = 60
const IDLE_WINDOWS = 2

export interface RateWindow {
  readonly tenantId: string
  readonly name: string
  /** Requests by slice, as a ring: the index is the slice number modulo its length. */
  counts: Uint32Array
  /** The slice of the present, as of the last time that the window was asked for. */
  newest: number
  total: number
  /** Requests by slice that are not in the store yet. The total includes those being written until they are on disk. */
  unsynced: Map<number, number>
  unsyncedTotal: number
  /** The window was idle for long and was removed; its subject gets a new one. */
  forgotten: boolean
}

export interface Subject {
  /** Empty for a client address. */
  tenantId: string
  name: string
  limit: number
}

export interface RateWindows {
  readonly sliceMs: number
  /** The number of slices kept: those of the window, and the one that is leaving it. */
  readonly ring: number
  time(): number
  all(): Iterable<RateWindow>
  /** Returns the window of a subject, as of now. */
  windowOf(subject: Subject): RateWindow
  /** Counts a request in a window that `windowOf` has just returned. */
  count(window: RateWindow): void
  /** Replaces what a window has counted by these numbers of requests by slice. */
  recount(window: RateWindow, counts: Iterable<readonly [slice: number, n: number]>): void
  /** Returns the milliseconds until the window holds at most `most` requests. */
  waitUntil(window: RateWindow, most: number): number
  forgetIdle(): void
}

/** Tells windows apart: a name is unique within its tenant, whose id has no space. */
export const keyOf = (tenantId: string, name: string): string => `${tenantId} ${name}`

export function makeRateWindows(windowSeconds: number, clock: Clock, isShared: boolean): RateWindows {
  const sliceMs = (windowSeconds * 1000) / SLICES
  const ring = SLICES + 1
  // Nodes that share a store agree on slices by the wall clock. A single node uses the monotonic clock, so that setting
  // the wall clock back does not prolong a limit. That clock may start at zero, and slices before the first are read:
  // hence the offset.
  const time = isShared ? clock.now : () => clock.elapsed() + ring * sliceMs
  const byKey = new Map<string, RateWindow>()

  /** Windows by subject object: a caller that reuses its subjects avoids the look-up by name. */
  const held = new WeakMap<Subject, RateWindow>()

  function named(subject: Subject, slice: number): RateWindow {
    const { tenantId, name } = subject
    const key = keyOf(tenantId, name)
    let window = byKey.get(key)
    if (!window) {
      window = {
        tenantId,
        name,
        counts: new Uint32Array(ring),
        newest: slice,
        total: 0,
        unsynced: new Map(),
        unsyncedTotal: 0,
        forgotten: false,
      }
      byKey.set(key, window)
    }
    held.set(subject, window)
    return window
  }

  function windowOf(subject: Subject): RateWindow {
    const slice = Math.floor(time() / sliceMs)
    const known = held.get(subject)
    const window = known && !known.forgotten ? known : named(subject, slice)
    // Slices between the newest one seen and now have left the window.
    if (slice - window.newest >= ring) {
      window.counts.fill(0)
      window.total = 0
      window.newest = slice
    }
    while (window.newest < slice) {
      const index = ++window.newest % ring
      window.total -= window.counts[index]!
      window.counts[index] = 0
    }
    return window
  }

  function count(window: RateWindow): void {
    const { newest, unsynced } = window
    window.counts[newest % ring]!++
    window.total++
    if (!isShared) return
    unsynced.set(newest, (unsynced.get(newest) ?? 0) + 1)
    window.unsyncedTotal++
  }

  function recount(window: RateWindow, counts: Iterable<readonly [slice: number, n: number]>): void {
    window.counts.fill(0)
    window.total = 0
    for (const [slice, n] of counts) {
      if (slice > window.newest || slice < window.newest - SLICES) continue
      window.counts[slice % ring]! += n
      window.total += n
    }
  }

  function waitUntil(window: RateWindow, most: number): number {
    let left = window.total
    for (let slice = window.newest - SLICES; slice <= window.newest; slice++) {
      left -= window.counts[slice % ring]!
      if (left <= most) return (slice + ring) * sliceMs - time()
    }
    return windowSeconds * 1000
  }

  function forgetIdle(): void {
    const slice = Math.floor(time() / sliceMs)
    for (const [key, window] of byKey) {
      if (slice - window.newest <= IDLE_WINDOWS * ring || window.unsyncedTotal > 0) continue
      byKey.delete(key)
      window.forgotten = true
    }
  }

  return { sliceMs, ring, time, all: () => byKey.values(), windowOf, count, recount, waitUntil, forgetIdle }
}
