// Sliding-window limits. A window is cut into slices; a slice counts until all of it has left the window, so the limit
// is never exceeded in any window, and a caller told to wait n seconds gets through after n seconds.
//
// One node counts in memory. Several nodes on one database add their counts together: a node that has taken 2 % of a
// limit (at least one request) tells the store before it takes more, and learns what the others took. So n nodes
// overshoot by at most 2 % · n, and a busy node asks the store about once per 2 % of the limit instead of once per
// request.
import type { Clock } from '../kernel/clock.ts'
import type { Insert, Store } from '../store/db.ts'

const SLICES = 60
const UNTOLD_SHARE = 0.02
const IDLE_WINDOWS = 2

interface Window {
  /** Counts by slice, as a ring; index = slice number modulo its length. */
  counts: Uint32Array
  newest: number
  total: number
  /** What the store has not been told: slice → requests. The total counts what is being told until it is on disk. */
  untold: Map<number, number>
  untoldTotal: number
  /** It was idle for long, and is not the window of its name any more. */
  forgotten: boolean
}

export interface Subject {
  /** Empty for a client address. */
  tenantId: string
  name: string
  limit: number
}

export interface Verdict {
  allowed: boolean
  /** Of the tighter subject. */
  limit: number
  remaining: number
  resetSeconds: number
}

export interface RateLimiter {
  windowSeconds: number
  /** Takes one request from every subject, or from none. */
  take(subjects: readonly Subject[]): Verdict | Promise<Verdict>
  /** What `take` would say, without taking. */
  peek(subjects: readonly Subject[]): Verdict
  /** Tells the store and forgets idle windows. */
  sync(): Promise<void>
}

const TELL: Insert = {
  into: 'rate_windows',
  columns: { tenant_id: 'text', subject: 'text', slot: 'bigint', used: 'bigint', expires_at: 'bigint' },
  conflict: 'on conflict (tenant_id, subject, slot) do update set used = rate_windows.used + excluded.used',
}

export function makeRateLimiter(windowSeconds: number, clock: Clock, shared: Store | null): RateLimiter {
  const sliceMs = (windowSeconds * 1000) / SLICES
  const ring = SLICES + 1
  // Nodes agree on slices by the time that they share. One alone goes by a clock that nobody can set, so that a clock set
  // back holds no limit longer; it may begin at zero, and slices before the first are looked at.
  const time = shared ? clock.now : () => clock.elapsed() + ring * sliceMs
  const windows = new Map<string, Window>()
  let syncing: Promise<boolean> | null = null

  /** A caller that keeps its subjects is spared the look-up by name. */
  const held = new WeakMap<Subject, Window>()
  const keyOf = (subject: Subject): string => `${subject.tenantId} ${subject.name}`

  function named(subject: Subject, slice: number): Window {
    const key = keyOf(subject)
    let window = windows.get(key)
    if (!window) {
      window = {
        counts: new Uint32Array(ring),
        newest: slice,
        total: 0,
        untold: new Map(),
        untoldTotal: 0,
        forgotten: false,
      }
      windows.set(key, window)
    }
    held.set(subject, window)
    return window
  }

  function windowOf(subject: Subject): Window {
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

  /** Milliseconds until the window holds at most `most` requests. */
  function waitUntil(window: Window, most: number): number {
    let left = window.total
    for (let slice = window.newest - SLICES; slice <= window.newest; slice++) {
      left -= window.counts[slice % ring]!
      if (left <= most) return (slice + ring) * sliceMs - time()
    }
    return windowSeconds * 1000
  }

  function judge(subjects: readonly Subject[]): Verdict {
    let tightest: Verdict | undefined
    for (const subject of subjects) {
      const window = windowOf(subject)
      const remaining = Math.max(0, subject.limit - window.total)
      if (tightest && remaining >= tightest.remaining) continue
      // When the next request leaves the window; for a full one, when there is room for one more.
      const wait =
        window.total === 0 ? windowSeconds * 1000 : waitUntil(window, Math.min(window.total, subject.limit) - 1)
      tightest = {
        allowed: remaining > 0,
        limit: subject.limit,
        remaining,
        resetSeconds: Math.max(1, Math.ceil(wait / 1000)),
      }
    }
    return tightest!
  }

  function count(subjects: readonly Subject[], verdict: Verdict): Verdict {
    for (const subject of subjects) {
      const window = windowOf(subject)
      window.counts[window.newest % ring]!++
      window.total++
      if (!shared) continue
      window.untold.set(window.newest, (window.untold.get(window.newest) ?? 0) + 1)
      window.untoldTotal++
    }
    verdict.remaining--
    return verdict
  }

  const hasMuchUntold = (subject: Subject): boolean =>
    windowOf(subject).untoldTotal >= Math.max(1, Math.floor(subject.limit * UNTOLD_SHARE))

  // Tells the store what was taken here and learns what was taken everywhere; says whether that was possible.
  async function tell(store: Store): Promise<boolean> {
    const telling: { key: string; window: Window; untold: Map<number, number> }[] = []
    for (const [key, window] of windows) {
      if (window.untoldTotal === 0) continue
      telling.push({ key, window, untold: window.untold })
      window.untold = new Map()
    }
    if (telling.length === 0) return true
    const split = (key: string): [string, string] => [key.slice(0, key.indexOf(' ')), key.slice(key.indexOf(' ') + 1)]
    const rows = telling
      .flatMap(({ key, untold }) =>
        [...untold].map(([slice, n]) => [...split(key), slice, n, Math.ceil((slice + 2 * ring) * sliceMs)] as const),
      )
      // Every node in the same order, so that two of them never wait for each other in a circle.
      .sort((a, b) => (a[0] + a[1] + a[2] < b[0] + b[1] + b[2] ? -1 : 1))
    try {
      const known = await store.tx(async (tx) => {
        await tx.insertMany(TELL, rows)
        return tx.rows<{ tenant_id: string; subject: string; slot: number; used: number }>(
          `select tenant_id, subject, slot, used from rate_windows
            where ${tx.dialect.inList('tenant_id')} and ${tx.dialect.inList('subject')} and slot >= ?`,
          [
            tx.dialect.list([...new Set(telling.map(({ key }) => split(key)[0]))]),
            tx.dialect.list([...new Set(telling.map(({ key }) => split(key)[1]))]),
            Math.floor(time() / sliceMs) - SLICES,
          ],
        )
      })
      const bySubject = Map.groupBy(known, (row) => `${row.tenant_id} ${row.subject}`)
      for (const { key, window, untold } of telling) {
        for (const n of untold.values()) window.untoldTotal -= n
        window.counts.fill(0)
        window.total = 0
        const add = (slice: number, n: number): void => {
          if (slice > window.newest || slice < window.newest - SLICES) return
          window.counts[slice % ring]! += n
          window.total += n
        }
        for (const { slot, used } of bySubject.get(key) ?? []) add(slot, used)
        for (const [slice, n] of window.untold) add(slice, n)
      }
      return true
    } catch {
      // The store is away: what is known here still holds, and the counts are told the next time.
      for (const { window, untold } of telling) {
        for (const [slice, n] of untold) window.untold.set(slice, (window.untold.get(slice) ?? 0) + n)
      }
      return false
    }
  }

  // One conversation at a time: who comes while one is under way has the next one tell its count.
  async function tellSoon(store: Store): Promise<boolean> {
    if (syncing) await syncing
    syncing ??= tell(store).finally(() => (syncing = null))
    return syncing
  }

  // However many come at once: each is judged by what is known after the telling.
  async function tellAndTake(store: Store, subjects: readonly Subject[]): Promise<Verdict> {
    for (;;) {
      const told = await tellSoon(store)
      const verdict = judge(subjects)
      if (!verdict.allowed) return verdict
      if (!told || !subjects.some(hasMuchUntold)) return count(subjects, verdict)
    }
  }

  return {
    windowSeconds,
    peek: judge,
    take(subjects) {
      const verdict = judge(subjects)
      if (!verdict.allowed) return verdict
      return shared && subjects.some(hasMuchUntold) ? tellAndTake(shared, subjects) : count(subjects, verdict)
    },
    async sync() {
      if (shared) {
        await tellSoon(shared)
        await shared.tx((tx) => tx.run('delete from rate_windows where expires_at < ?', [time()]))
      }
      const slice = Math.floor(time() / sliceMs)
      for (const [key, window] of windows) {
        if (slice - window.newest <= IDLE_WINDOWS * ring || window.untoldTotal > 0) continue
        windows.delete(key)
        window.forgotten = true
      }
    },
  }
}
