// How much a tenant may have: agents, interests, memories, bytes, events a day. Only a tenant with a quota pays for the
// checks. The feeds of channels count as interests: every node keeps both in memory and matches every event with them.
//
// 1. Agents, interests and memories are counted in the transaction that makes them, under a lock, and no further than
//    the quota. While there is much room, a node takes a share of it, and counts again when the share is used or a
//    second old. Until its transaction is committed, a share is for that transaction alone (on SQLite, for those that
//    share the commit): it may count on what they delete. Other nodes may use up the room meanwhile, so each can exceed
//    the quota by what is left of its share. With several writers, a node can also exceed it by what it has under way
//    while it counts. (Rejected: a table of shares, which adds a write for everything that is made under a quota; and a
//    lock for each use of a share, which would make imports wait for each other.)
// 2. Events and bytes are compared with the counters that metering keeps anyway, read at most once a second, plus what
//    this node took since. One node never exceeds a quota; several may exceed it by what they take in a second. Work
//    under way counts whatever was read, because it may not be in the counters yet.
import type { TenantSettings } from '@sensorium/contract'
import type { Clock } from '../kernel/clock.ts'
import { ruleBroken, type Failure } from '../kernel/failure.ts'
import type { Db, Store } from '../store/db.ts'
import type { SettingsOf } from './settings.ts'
import { countUpTo, sumMetric } from './sql.ts'
import { dayOf, STORED_BYTES } from './usage.ts'

type QuotaKind = 'agents' | 'interests' | 'memories'

export interface Quotas {
  /** Whether the tenant has a quota on what it publishes. */
  limitsPublishing(tenantId: string): boolean
  /** Throws if the tenant may not have `count` more of these. Call it in the transaction that makes them. */
  makeRoom(tx: Db, tenantId: string, what: QuotaKind, count?: number): Promise<void>
  /**
   * Throws if the tenant may not store this many more bytes. Call it in the transaction that stores them, and call the
   * returned function if the transaction stores nothing after all.
   */
  makeRoomForBytes(tx: Db, tenantId: string, bytes: number): Promise<() => void>
  /**
   * Returns why a tenant may not store this much more, or null if it may. After null, the caller reports the outcome:
   * `written`, or `release` to give it back.
   */
  take(tenantId: string, events: number, bytes: number): Promise<Failure | null>
  written(tenantId: string, events: number, bytes: number): void
  release(tenantId: string, events: number, bytes: number): void
}

const exceeded = (quota: keyof TenantSettings, limit: number): Failure =>
  ruleBroken('quota_exceeded', `The quota of the tenant is used up: ${quota} is ${limit}`, { quota, limit })

const SHARES = 32
const MAX_SHARE = 100
const SHARE_LASTS_MS = 1_000
const READ_EVERY_MS = 1_000

interface Share {
  limit: number
  left: number
  until: number
  /** Who counted; null once that is committed. Until then what was counted may be undone, so others count again. */
  countedBy: Db | null
}

interface Amount {
  events: number
  bytes: number
}

interface Reading extends Amount {
  day: string
  readAt: number
  /** Written by this node since, or while the counters were read. */
  since: Amount
}

const NOTHING: Readonly<Amount> = { events: 0, bytes: 0 }

function add(to: Amount | undefined, events: number, bytes: number): void {
  if (!to) return
  to.events += events
  to.bytes += bytes
}

/** The quotas on agents, interests and memories. */
function makeShares(clock: Clock, settingsOf: SettingsOf): Quotas['makeRoom'] {
  const shares = new Map<string, Share>()
  return async (tx, tenantId, what, count = 1) => {
    const quota = `quota_${what}` as const
    const limit = settingsOf(tenantId)[quota]
    if (limit === null) return
    const key = `${quota} ${tenantId}`
    function isTakenFromShare(): boolean {
      const share = shares.get(key)
      if (!share || (share.countedBy !== null && share.countedBy !== tx)) return false
      if (share.limit !== limit || share.left < count || share.until <= clock.elapsed()) return false
      // Not given back by a transaction that fails: then the share is used up earlier, and counted again.
      share.left -= count
      return true
    }
    if (isTakenFromShare()) return
    await tx.lock([key], 'exclusive')
    // Whoever had the lock before may have counted for all.
    if (isTakenFromShare()) return
    let there = await countUpTo(tx, tenantId, what, limit)
    if (what === 'interests') there += await countUpTo(tx, tenantId, 'feeds', limit)
    if (there + count > limit) throw exceeded(quota, limit)
    const counted: Share = {
      limit,
      left: Math.min(MAX_SHARE, Math.floor((limit - there) / SHARES)) - count,
      until: clock.elapsed() + SHARE_LASTS_MS,
      countedBy: tx,
    }
    shares.set(key, counted)
    tx.afterCommit(() => (counted.countedBy = null))
    tx.afterRollback(() => shares.get(key) === counted && shares.delete(key))
  }
}

/** The quotas on what metering counts: events of a day, and bytes. */
function makeMetered(store: Store, clock: Clock, settingsOf: SettingsOf) {
  const readings = new Map<string, Reading>()
  /** Reads under way. Callers that arrive meanwhile wait for the same one, otherwise each would count from its own. */
  const reads = new Map<string, Promise<Reading>>()
  const writtenDuringRead = new Map<string, Amount>()
  /** Taken, and neither written nor released yet. */
  const underWay = new Map<string, Amount>()

  function read(tenantId: string): Reading | Promise<Reading> {
    const day = dayOf(clock.now())
    const known = readings.get(tenantId)
    if (known && known.day === day && clock.elapsed() - known.readAt < READ_EVERY_MS) return known
    let reading = reads.get(tenantId)
    if (!reading) reads.set(tenantId, (reading = readAgain(tenantId, day).finally(() => reads.delete(tenantId))))
    return reading
  }

  async function readAgain(tenantId: string, day: string): Promise<Reading> {
    const since = { ...NOTHING }
    writtenDuringRead.set(tenantId, since)
    const [events, bytes] = await Promise.all([
      sumMetric(store, tenantId, day, 'events'),
      sumMetric(store, tenantId, '', STORED_BYTES),
    ])
    const reading = { day, events, bytes, readAt: clock.elapsed(), since }
    readings.set(tenantId, reading)
    return reading
  }

  function count(tenantId: string, events: number, bytes: number): void {
    const since = readings.get(tenantId)?.since
    const during = writtenDuringRead.get(tenantId)
    add(since, events, bytes)
    if (during !== since) add(during, events, bytes)
  }

  function release(tenantId: string, events: number, bytes: number): void {
    const left = underWay.get(tenantId)
    add(left, -events, -bytes)
    if (left && left.events <= 0 && left.bytes <= 0) underWay.delete(tenantId)
  }

  async function take(tenantId: string, events: number, bytes: number): Promise<Failure | null> {
    const { quota_events_per_day: perDay, quota_stored_bytes: stored } = settingsOf(tenantId)
    if (perDay === null && stored === null) return null
    const reading = await read(tenantId)
    const taken = underWay.get(tenantId) ?? { ...NOTHING }
    // Several nodes or a lowered quota leave the count above it, which is no reason to refuse what has no events.
    if (events > 0 && perDay !== null && reading.events + reading.since.events + taken.events + events > perDay)
      return exceeded('quota_events_per_day', perDay)
    if (stored !== null && reading.bytes + reading.since.bytes + taken.bytes + bytes > stored)
      return exceeded('quota_stored_bytes', stored)
    add(taken, events, bytes)
    underWay.set(tenantId, taken)
    return null
  }

  return {
    take,
    /** Reports that what was taken is stored. */
    written(tenantId: string, events: number, bytes: number): void {
      release(tenantId, events, bytes)
      count(tenantId, events, bytes)
    },
    /** Reports that nothing of what was taken is stored. */
    release,
  }
}

export function makeQuotas(store: Store, clock: Clock, settingsOf: SettingsOf): Quotas {
  const { take, written, release } = makeMetered(store, clock, settingsOf)
  return {
    take,
    written,
    release,
    makeRoom: makeShares(clock, settingsOf),
    limitsPublishing(tenantId) {
      const { quota_events_per_day, quota_stored_bytes } = settingsOf(tenantId)
      return quota_events_per_day !== null || quota_stored_bytes !== null
    },
    async makeRoomForBytes(tx, tenantId, bytes) {
      const failure = await take(tenantId, 0, bytes)
      if (failure) throw failure
      let isStored = true
      tx.afterCommit(() => (isStored ? written : release)(tenantId, 0, bytes))
      // The transaction may be retried, and then takes its room again.
      tx.afterRollback(() => release(tenantId, 0, bytes))
      return () => void (isStored = false)
    },
  }
}
