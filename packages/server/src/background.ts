// The work that the service does by itself: the name of each task, how often it runs, and one run of it.
import type { Activity } from './activity/activity.ts'
import type { EventTypes } from './activity/event-types.ts'
import { pruneAudit } from './audit/audit.ts'
import type { Config } from './config.ts'
import { LOOK_EVERY_MS } from './memory/embedding-claims.ts'
import { expireMemories } from './memory/expire.ts'
import { sweepMetadata } from './memory/discard-metadata.ts'
import { rewordMemories } from './memory/reword.ts'
import { sweepLapsed } from './delivery/lapse.ts'
import { moveWithClock, noteTime } from './delivery/move-with-clock.ts'
import type { PolicyOf } from './delivery/policy.ts'
import type { Wakeups } from './delivery/wake.ts'
import type { Supervisor } from './ingest/connectors/supervise.ts'
import type { Clock } from './kernel/clock.ts'
import type { RateLimiter } from './limits/rate-limit.ts'
import type { Embedding } from './memory/embed-memories.ts'
import type { MemoryIndex } from './memory/index/memory-index.ts'
import type { Idempotency } from './operations/idempotency.ts'
import type { Push } from './outbound/push.ts'
import type { Announcements } from './store/announce.ts'
import type { Store } from './store/db.ts'
import { agreeOnTime, followClock } from './store/follow-clock.ts'
import type { SettingsCache } from './tenants/settings.ts'
import { gatherStatistics } from './store/statistics.ts'

interface Work {
  /** Milliseconds between the end of a run and the start of the next. */
  everyMs: number
  runOnce(): Promise<unknown>
}

interface BackgroundTools {
  store: Store
  clock: Clock
  policyOf: PolicyOf
  wakeups: Wakeups
  activity: Activity
  eventTypes: EventTypes
  config: Pick<Config, 'auditDays'>
  settings: SettingsCache
  announcements: Announcements
  idempotency: Idempotency
  limiters: readonly RateLimiter[]
  retain(): Promise<unknown>
  supervisor: Supervisor
  push: Push
  embedding: Embedding
  memoryIndex: MemoryIndex
}

export function backgroundWork(tools: BackgroundTools) {
  const { store, clock, policyOf, wakeups, activity, announcements, idempotency, limiters, supervisor, push } = tools
  return {
    purgeIdempotency: { everyMs: 60_000, runOnce: idempotency.purge },
    /** Writes down the leases and waits that have lapsed. */
    sweepLapsed: {
      everyMs: 1_000,
      runOnce: () => sweepLapsed({ store, activity, wakeups, policyOf }, clock.now()),
    },
    flushActivity: {
      everyMs: 5_000,
      runOnce: async () => {
        await activity.flush()
        await tools.eventTypes.flush()
      },
    },
    pruneActivity: { everyMs: 600_000, runOnce: activity.prune },
    pruneAudit: { everyMs: 3_600_000, runOnce: () => pruneAudit(store, clock.now(), tools.config.auditDays) },
    /** Deletes events, and what belongs to them, past their retention. */
    retain: { everyMs: 600_000, runOnce: tools.retain },
    superviseConnectors: { everyMs: 2_000, runOnce: supervisor.runOnce },
    stopConnectorsWithoutLease: { everyMs: 1_000, runOnce: supervisor.stopLapsed },
    /** Pushes what is due and had no wake-up. */
    push: { everyMs: 1_000, runOnce: push.runOnce },
    embed: { everyMs: LOOK_EVERY_MS, runOnce: () => tools.embedding.runOnce() },
    rewordMemories: { everyMs: 2_000, runOnce: () => rewordMemories(store, tools.memoryIndex, clock.now()) },
    sweepMetadata: { everyMs: 10_000, runOnce: () => sweepMetadata(store, clock.now()) },
    expireMemories: { everyMs: 10_000, runOnce: () => expireMemories(store, tools.memoryIndex, clock.now()) },
    gatherStatistics: { everyMs: 2_000, runOnce: () => gatherStatistics(store) },
    /** Learns whether an operator has spread the tenants over shards meanwhile. */
    learnStore: { everyMs: 10_000, runOnce: store.refreshCapabilities },
    /** The same for the store that the search thread has opened for itself. */
    learnSearchStore: { everyMs: 10_000, runOnce: tools.memoryIndex.learn },
    /**
     * Follows the clock of the database, which nodes share. Between two measurements a node goes by the machine's
     * monotonic clock, which setting the time does not move. A virtual machine that was frozen is behind until the
     * next.
     */
    followClock: { everyMs: 2_000, runOnce: () => followClock(store, clock).then(() => agreeOnTime(store, clock)) },
    /**
     * Takes over a step of the machine's clock, if the node follows no other. Until then its time goes on without it.
     */
    moveWithClock: { everyMs: 1_000, runOnce: () => moveWithClock(store, clock) },
    /** A lease may last longer by this interval after a start with an earlier time. */
    noteTime: { everyMs: 10_000, runOnce: () => noteTime(store, clock) },
    syncRateLimits: {
      everyMs: 1_000,
      runOnce: async () => {
        for (const limiter of limiters) await limiter.sync()
      },
    },
    /** Reads the settings that other nodes and the command line changed. */
    readSettings: { everyMs: 500, runOnce: tools.settings.runOnce },
    hearAnnouncements: { everyMs: 500, runOnce: announcements.runOnce },
  } satisfies Record<string, Work>
}

export type BackgroundWork = ReturnType<typeof backgroundWork>
