// Sliding-window limits. A window is cut into slices; a slice counts until all of it has left the window, so the limit
// is never exceeded in any window, and a caller told to wait n seconds gets through after n seconds.
//
// A single node counts in memory. Several nodes on one database add their counts together: a node that has taken 2 % of
// what is left of a limit (at least one request) writes its count before it takes more, and reads what the others took.
// So the steps become smaller towards the limit: 16 nodes that are used alike exceed a limit of 1,000 by 15 requests,
// 25 by 33. With steps of 2 % of the limit, eight exceeded it by 140. A node that knows nothing of the others yet may
// take 2 % of the limit.
//
// Until a limit of 1,000 is reached the nodes ask the store about 200 times together; with the larger steps it was 50.
// A caller that stays right below its limit pays most, up to a question for each request. Requests that arrive together
// share one.
import type { Clock } from '../kernel/clock.ts'
import { rateLimited } from '../kernel/failure.ts'
import { oneAtATime } from '../kernel/one-at-a-time.ts'
import type { Store } from '../store/db.ts'
import { purge, type Aging } from '../store/purge.ts'
import { syncCounts } from './sync-counts.ts'
import { makeRateWindows, type Subject } from './rate-windows.ts'

export type { Subject } from './rate-windows.ts'

const UNSYNCED_SHARE = 0.02

const PAST_WINDOWS: Aging = { table: 'rate_windows', key: ['subject', 'slot'], age: 'expires_at' }

export interface Verdict {
  allowed: boolean
  /** This and the values below are those of the subject with the fewest requests left. */
  limit: number
  remaining: number
  resetSeconds: number
}

export interface RateLimiter {
  windowSeconds: number
  /** Takes one request from every subject, or from none. */
  take(subjects: readonly Subject[]): Verdict | Promise<Verdict>
  /** Returns what `take` would, without taking. */
  peek(subjects: readonly Subject[]): Verdict
  /** Syncs the counts with the store and forgets idle windows. */
  sync(): Promise<void>
}

/** Throws rate_limited if a limiter's verdict is that a request is one too many. */
export function refuseOver({ allowed, resetSeconds, limit }: Verdict, { windowSeconds }: RateLimiter): void {
  if (!allowed) throw rateLimited(resetSeconds, limit, windowSeconds)
}

export function makeRateLimiter(windowSeconds: number, clock: Clock, shared: Store | null): RateLimiter {
  const windows = makeRateWindows(windowSeconds, clock, shared !== null)
  const { windowOf, waitUntil } = windows

  function judge(subjects: readonly Subject[]): Verdict {
    let tightest: Verdict | undefined
    for (const subject of subjects) {
      const window = windowOf(subject)
      const remaining = Math.max(0, subject.limit - window.total)
      if (tightest && remaining >= tightest.remaining) continue
      // The time until the next request leaves the window or, if the window is full, until it has room for one more.
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
    for (const subject of subjects) windows.count(windowOf(subject))
    verdict.remaining--
    return verdict
  }

  function shouldSync(subject: Subject): boolean {
    const { unsyncedTotal, total } = windowOf(subject)
    return unsyncedTotal >= Math.max(1, Math.floor((subject.limit - total) * UNSYNCED_SHARE))
  }

  // A request that arrives during a sync waits for the next, which writes its count.
  const syncSoon = oneAtATime(async () => shared !== null && syncCounts(shared, windows))

  // However many requests arrive at once, each is judged by the counts that are known after a sync.
  async function syncAndTake(subjects: readonly Subject[]): Promise<Verdict> {
    for (;;) {
      const synced = await syncSoon()
      const verdict = judge(subjects)
      if (!verdict.allowed) return verdict
      if (!synced || !subjects.some(shouldSync)) return count(subjects, verdict)
    }
  }

  return {
    windowSeconds,
    peek: judge,
    take(subjects) {
      const verdict = judge(subjects)
      if (!verdict.allowed) return verdict
      return shared && subjects.some(shouldSync) ? syncAndTake(subjects) : count(subjects, verdict)
    },
    async sync() {
      if (shared) {
        await syncSoon()
        await purge(shared, PAST_WINDOWS, windows.time())
      }
      windows.forgetIdle()
    },
  }
}
