// All open streams of this node, and the one ticker that they share: 5,000 streams have no timers of their own.
//
// 1. A stream ends within a second of its key being revoked, its agent deactivated or its token expiring.
// 2. A stream that ends, for whatever reason, releases its leases at once, except those that were extended.
// 3. An acknowledgement on this node frees its place at once; one on another node, a lapse or an extension is found by
//    looking, at first after a moment and then less and less often.
import type { Activity } from '../activity/activity.ts'
import type { Identify } from '../auth/identify.ts'
import type { Claim } from '../delivery/claim.ts'
import type { LeaseChanges } from '../delivery/lease-changes.ts'
import type { PolicyOf } from '../delivery/policy.ts'
import type { Mailbox } from '../delivery/sql.ts'
import type { Wakeups } from '../delivery/wake.ts'
import type { Clock } from '../kernel/clock.ts'
import { makeCounts } from '../kernel/counts.ts'
import { makeInTurn } from '../kernel/in-turn.ts'
import { tooManyAtOnce, unavailable, type Failure } from '../kernel/failure.ts'
import type { Logger } from '../kernel/logger.ts'
import { makeSharedPlaces, type Siblings } from '../kernel/shared-places.ts'
import type { Store } from '../store/db.ts'
import { endWithToken } from '../streams/end-with-token.ts'
import { reconnectHint, type OpenedStream, type Sink } from '../streams/reader.ts'
import { makeTicker } from '../streams/ticker.ts'
import { makeReleaseLeases } from './release-leases.ts'
import { LAST_LOOK_MS, lookAtLeases, makeRefresh, type Looked } from './refresh-streams.ts'
import { openStream } from './stream.ts'

interface StreamsTools {
  store: Store
  claim: Claim
  wakeups: Wakeups
  leaseChanges: LeaseChanges
  identify: Identify
  clock: Clock
  log: Logger
  policyOf: PolicyOf
  activity: Activity
  siblings: Siblings
}

/** A place for a stream: it is opened, or left. */
interface StreamPlace {
  open(sink: Sink, token: string): OpenedStream
  leave(): void
}

export interface Streams {
  /** Takes a place for a stream that has at most `max` deliveries in flight. Throws if there is none. */
  admit(mailbox: Mailbox, max: number): Promise<StreamPlace>
  count(): number
  /** Ends all streams with a hint when to reconnect, and releases their leases. */
  close(): Promise<void>
}

/** A tenant gets half of them, as of the places for requests and pushes, so that none can keep the others out. */
const MOST_STREAMS = { ofNode: 20_000, ofTenant: 10_000 }
const MAX_STREAMS_OF_ONE = 8
/** Long deliveries that are written and not yet taken: with a megabyte each, the node holds 64 MB. */
const LONG_AT_ONCE = { ofNode: 64, ofTenant: 16, ofAgent: 4 }
const TICK_MS = 250
/** A reader that takes nothing for this long counts as gone. */
const STUCK_MS = 30_000

interface Entry extends Looked {
  token: string
  verifying: boolean
  cancelWake(): void
}

const NO_ENTRIES: ReadonlySet<Entry> = new Set()

type Entries = ReturnType<typeof makeEntries>

/** The open streams, all of them and by mailbox, and how many each tenant has. */
function makeEntries() {
  const all = new Set<Entry>()
  const counts = makeCounts()
  const byRecipient = new Map<string, Set<Entry>>()
  return {
    all: all as ReadonlySet<Entry>,
    of: (recipientId: string): ReadonlySet<Entry> => byRecipient.get(recipientId) ?? NO_ENTRIES,
    countOf: counts.of,
    add(entry: Entry): void {
      const { tenantId, recipientId } = entry.stream.mailbox
      all.add(entry)
      counts.add(tenantId, 1)
      byRecipient.set(recipientId, (byRecipient.get(recipientId) ?? new Set<Entry>()).add(entry))
    },
    /** Returns whether the stream was open. */
    remove(entry: Entry): boolean {
      if (!all.delete(entry)) return false
      const { tenantId, recipientId } = entry.stream.mailbox
      const open = byRecipient.get(recipientId)!
      if (open.delete(entry) && open.size === 0) byRecipient.delete(recipientId)
      counts.add(tenantId, -1)
      return true
    },
  }
}

/** Why no more streams of a tenant can be opened; null if there is room. */
function whyFull(entries: Entries, tenantId: string, { ofNode, ofTenant }: typeof MOST_STREAMS): Failure | null {
  if (entries.countOf(tenantId) >= ofTenant) return tooManyAtOnce('streams of one tenant open', ofTenant)
  return entries.all.size >= ofNode ? unavailable('This node has too many streams open') : null
}

export function makeStreams(tools: StreamsTools, most = MOST_STREAMS): Streams {
  const { store, claim, wakeups, identify, clock, log } = tools
  const entries = makeEntries()
  const refresh = makeRefresh(store, clock, log, TICK_MS)
  const places = makeSharedPlaces('streams', MAX_STREAMS_OF_ONE, tools.siblings)
  let closing = false

  const longInTurn = makeInTurn({ what: 'long deliveries waiting', ...LONG_AT_ONCE, mostWaiting: most.ofNode })

  const keepTicking = makeTicker(clock, log, TICK_MS, () => entries.all.size > 0, tick)
  const releaseLeases = makeReleaseLeases(tools)

  async function end(entry: Entry, last?: string): Promise<void> {
    if (!entries.remove(entry)) return
    entry.cancelWake()
    const { mailbox } = entry.stream
    places.leave(mailbox.recipientId)
    await entry.stream.close(last)
    const leases = entry.stream.held()
    if (leases.length > 0) await releaseLeases({ mailbox, leases })
  }

  function tick(now: number, elapsed: number): void {
    for (const entry of entries.all) {
      const { reader } = entry.stream
      if (reader.stuckMs(elapsed) >= STUCK_MS) {
        void end(entry)
        continue
      }
      endWithToken(entry, identify, () => end(entry, ''))
      reader.keepOpen(elapsed)
    }
    refresh.look(entries.all, now, elapsed)
  }

  tools.leaseChanges.watch({
    settled(recipientId, ids) {
      for (const { stream } of entries.of(recipientId)) stream.settled(ids)
    },
    givenBack(recipientId, leases) {
      for (const { stream } of entries.of(recipientId)) stream.givenBack(leases)
    },
    extended(recipientId) {
      const streams = [...entries.of(recipientId)].map(({ stream }) => stream)
      if (streams.length > 0) void lookAtLeases(store, streams, clock.now, log)
    },
  })

  function open(mailbox: Mailbox, max: number, sink: Sink, token: string): OpenedStream {
    const refusal = closing ? unavailable('This node is shutting down') : whyFull(entries, mailbox.tenantId, most)
    if (refusal) {
      places.leave(mailbox.recipientId)
      throw refusal
    }
    const stream = openStream(mailbox, max, sink, {
      claim,
      clock,
      longInTurn,
      filled: () => refresh.filled(entry),
      failed: (error) => log.warn({ err: error }, 'a stream could not claim'),
    })
    const entry: Entry = {
      stream,
      token,
      lookedAt: clock.elapsed(),
      waitMs: LAST_LOOK_MS,
      verifying: false,
      cancelWake: wakeups.wait(mailbox, stream.pump),
    }
    entries.add(entry)
    stream.pump()
    keepTicking()
    return { progressed: stream.reader.progressed, drained: stream.drained, gone: () => void end(entry) }
  }

  return {
    async admit(mailbox, max) {
      if (!(await places.take(mailbox.recipientId)))
        throw tooManyAtOnce('streams of one mailbox open', MAX_STREAMS_OF_ONE)
      return {
        open: (sink, token) => open(mailbox, max, sink, token),
        leave: () => places.leave(mailbox.recipientId),
      }
    },
    count: () => entries.all.size,
    async close() {
      closing = true
      await Promise.all([...entries.all].map((entry) => end(entry, reconnectHint())))
      await releaseLeases.finished()
    },
  }
}
