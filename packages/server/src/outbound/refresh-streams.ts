// What a stream has to look up because no wake-up tells it: the state of its leases, and whether something is due.
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Store } from '../store/db.ts'
import { makeTicker } from '../streams/ticker.ts'
import { dueAmong, readLeases } from './sql.ts'
import type { Stream } from './stream.ts'

/**
 * How soon a stream that became full looks for acknowledgements on other nodes, how much longer it waits after each
 * look in vain, and how long at most. A worker that acknowledges at once gets its next deliveries at once; with a look
 * every second it got `max_in_flight` of them a second. One that holds them for long costs a query a second.
 */
const FIRST_LOOK_MS = 20
const LONGER = 1.5
export const LAST_LOOK_MS = 1_000
/** How often idle streams look for what no wake-up reported. */
const LOOK_IDLE_MS = 2_000
const MAILBOXES_AT_ONCE = 500
const LEASES_AT_ONCE = 500
/** With two thousand tenants, one query after the other took seconds. */
const QUERIES_AT_ONCE = 4

export interface Looked {
  stream: Stream
  /** When the store was last asked about the stream, in elapsed time. */
  lookedAt: number
  /** How long the stream waits for its next look while it is full. */
  waitMs: number
}

interface Refresh {
  /** Looks up what the open streams have to know by now. */
  look(open: Iterable<Looked>, now: number, elapsed: number): void
  /** Called when a stream has become full. */
  filled(entry: Looked): void
}

/** `tickMs` is how often `look` is called for all streams. */
export function makeRefresh(store: Store, clock: Clock, log: Logger, tickMs: number): Refresh {
  const look = makeLook(store, clock, log)
  /** Streams that look more often than all are looked at: they do not wait until all have been. */
  const justFilled = new Set<Looked>()
  const lookSooner = makeLook(store, clock, log)
  const keepLooking = makeTicker(clock, log, FIRST_LOOK_MS, () => justFilled.size > 0, lookAtFilled)

  function lookAtFilled(now: number, elapsed: number): void {
    for (const entry of justFilled) if (!entry.stream.isFull() || entry.waitMs > tickMs) justFilled.delete(entry)
    lookSooner(justFilled, now, elapsed)
  }

  return {
    look,
    filled(entry) {
      entry.waitMs = FIRST_LOOK_MS
      entry.lookedAt = clock.elapsed()
      if (!store.isShared) return
      justFilled.add(entry)
      keepLooking()
    },
  }
}

function makeLook(store: Store, clock: Clock, log: Logger): Refresh['look'] {
  const overNodes = store.isShared
  /** Whether leases are being read. Streams whose leases are due meanwhile have their turn afterwards. */
  let looking = false

  return (open, now, elapsed) => {
    const unsure: Stream[] = []
    const idle: Stream[] = []
    for (const entry of open) {
      const { stream } = entry
      const waited = elapsed - entry.lookedAt
      if (stream.lapsesAt() <= now || (overNodes && waited >= entry.waitMs && stream.isFull())) {
        if (looking) continue
        unsure.push(stream)
        entry.waitMs = Math.min(entry.waitMs * LONGER, LAST_LOOK_MS)
      } else if (waited >= LOOK_IDLE_MS && stream.isIdle()) idle.push(stream)
      else continue
      entry.lookedAt = elapsed
    }
    if (idle.length > 0) void pumpDue(store, idle, clock.now, log)
    if (unsure.length === 0) return
    looking = true
    void lookAtLeases(store, unsure, clock.now, log).finally(() => (looking = false))
  }
}

/**
 * Divides streams into groups, each of one tenant and with about as many leases as one query reads. Tenants take turns.
 */
export function inGroups<S extends Pick<Stream, 'mailbox' | 'held'>>(streams: readonly S[]): S[][] {
  const rounds: S[][][] = []
  for (const ofTenant of Map.groupBy(streams, ({ mailbox }) => mailbox.tenantId).values()) {
    let round = -1
    let leases = LEASES_AT_ONCE
    for (const stream of ofTenant) {
      if (leases >= LEASES_AT_ONCE) {
        round++
        leases = 0
        ;(rounds[round] ??= []).push([])
      }
      rounds[round]!.at(-1)!.push(stream)
      leases += stream.held().length
    }
  }
  return rounds.flat()
}

/**
 * Reads the state of the leases of these streams: some may have been acknowledged elsewhere, extended or lapsed. A few
 * queries at a time, each for many streams: with a query for each stream, a tenant with 2,000 full ones held up the
 * requests of others.
 */
export async function lookAtLeases(
  store: Store,
  streams: readonly Stream[],
  now: () => number,
  log: Logger,
): Promise<void> {
  const groups = inGroups(streams).values()
  async function readGroups(): Promise<void> {
    for (const group of groups) {
      const asked = group.map((stream) => ({ stream, leases: stream.held() }))
      const ids = asked.flatMap(({ leases }) => leases.map(({ id }) => id))
      const rows = await readLeases(store, group[0]!.mailbox.tenantId, ids, now())
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const { stream, leases } of asked) stream.refresh(leases, byId)
    }
  }
  try {
    await Promise.all(Array.from({ length: QUERIES_AT_ONCE }, readGroups))
  } catch (error) {
    log.debug({ err: error }, 'streams will look again')
  }
}

/** Pumps the streams whose mailboxes have something due. */
async function pumpDue(store: Store, streams: readonly Stream[], now: () => number, log: Logger): Promise<void> {
  try {
    for (const [tenantId, ofTenant] of Map.groupBy(streams, ({ mailbox }) => mailbox.tenantId)) {
      for (let i = 0; i < ofTenant.length; i += MAILBOXES_AT_ONCE) {
        const some = ofTenant.slice(i, i + MAILBOXES_AT_ONCE)
        const recipients = [...new Set(some.map(({ mailbox }) => mailbox.recipientId))]
        const rows = await dueAmong(store, tenantId, recipients, now())
        const due = new Set(rows.map((row) => row.recipient_id))
        for (const stream of some) if (due.has(stream.mailbox.recipientId)) stream.pump()
      }
    }
  } catch (error) {
    log.debug({ err: error }, 'streams will look again')
  }
}
