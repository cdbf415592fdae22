// Who may still join what waits to be published. What counts is the work, not the number of events: an event with three
// hundred recipients is three hundred rows. What could not begin within two seconds is refused at once, so that a
// caller hears it while it can still do something else, and memory holds two seconds of work and no more.
import { unavailable } from '../kernel/failure.ts'

/** Who would wait longer than this is refused at once. */
const ADMITTED_WAIT_MS = 2_000
/** Nothing is begun that has waited longer. The bound above is an estimate, so this is twice as far. */
export const MAX_WAIT_MS = 4_000
const MAX_BYTES = 64_000_000
/** Units a millisecond, before anything was measured. */
const FIRST_GUESS = 50
const LEAST = 1
/** A smaller group says more about how long a commit takes than about how much can be done. */
const WORTH_MEASURING = 200
const MEASURED_OVER_MS = 500
/** Tenants whose typical event is remembered. */
const MAX_TYPICAL = 10_000

/**
 * What publishing takes, in units of one delivery's row: some eight microseconds. An event is four rows' worth, a
 * kilobyte one, and 800 steps of a filter one.
 */
export const workOf = (events: number, deliveries: number, bytes: number, steps: number): number =>
  4 * events + deliveries + bytes / 1_000 + steps / 800

export interface Place {
  /** Now it is known what it takes. */
  revise(work: number): void
  leave(): void
}

export interface Admission {
  /** Takes a place for this many events, or throws service_unavailable. */
  enter(tenantId: string, senderId: string, events: number, bytes: number): Place
  /** A group begins; what is returned says that it has ended. */
  begin(work: number): () => void
  /** Work that is waiting or under way. */
  readonly work: number
  /** What is done of late, in units a millisecond. */
  readonly rate: number
}

interface Held {
  work: number
  senders: Map<string, number>
}

/** The work that waits or is under way, by tenant and sender. */
function countWork() {
  const tenants = new Map<string, Held>()
  const counted = {
    total: 0,
    // Tenants take turns, and senders inside a tenant: who has little waiting waits for little of the others'.
    before(tenantId: string, senderId: string): number {
      const held = tenants.get(tenantId)
      if (!held) return 0
      const ofTenant = held.work * tenants.size
      const ofSender = (held.senders.get(senderId) ?? 0) * held.senders.size * tenants.size
      return Math.min(counted.total, ofTenant, ofSender)
    },
    add(tenantId: string, senderId: string, work: number): void {
      let held = tenants.get(tenantId)
      if (!held) tenants.set(tenantId, (held = { work: 0, senders: new Map() }))
      held.work += work
      held.senders.set(senderId, (held.senders.get(senderId) ?? 0) + work)
      counted.total += work
    },
    remove(tenantId: string, senderId: string, work: number): void {
      const held = tenants.get(tenantId)!
      held.work -= work
      counted.total -= work
      const left = held.senders.get(senderId)! - work
      // Sums of fractions: what is left of nothing is not quite nothing.
      if (left < 0.001) held.senders.delete(senderId)
      else held.senders.set(senderId, left)
      if (held.senders.size === 0) tenants.delete(tenantId)
    },
  }
  return counted
}

/** How much is done in a millisecond, by the groups that have ended of late. */
function measureRate(elapsed: () => number) {
  /** The groups under way, the oldest first. */
  const underWay = new Set<{ since: number }>()
  let lastEnded = 0
  const measured = {
    rate: FIRST_GUESS,
    /** How long the oldest group has been under way: where the disk or the server stalls, everybody waits for it. */
    stalledMs(): number {
      for (const { since } of underWay) return elapsed() - since
      return 0
    },
    begin(work: number): () => void {
      const group = { since: elapsed() }
      underWay.add(group)
      return () => {
        underWay.delete(group)
        const now = elapsed()
        // Where several are under way at once, the time since the last one ended is what this one took.
        const span = now - Math.max(group.since, lastEnded)
        lastEnded = now
        if (work < WORTH_MEASURING || span <= 0) return
        const { rate } = measured
        measured.rate = Math.max(LEAST, rate + (work / span - rate) * Math.min(1, span / MEASURED_OVER_MS))
      }
    },
  }
  return measured
}

/** What an event of a tenant took of late beside its bytes: known before it is routed. */
function rememberTypical() {
  const typical = new Map<string, number>()
  return {
    of: (tenantId: string): number => typical.get(tenantId) ?? 0,
    learn(tenantId: string, work: number): void {
      const known = typical.get(tenantId)
      if (known === undefined && typical.size >= MAX_TYPICAL) typical.delete(typical.keys().next().value!)
      typical.set(tenantId, known === undefined ? work : known + (work - known) * 0.1)
    },
  }
}

export function makeAdmission(elapsed: () => number): Admission {
  const waiting = countWork()
  const groups = measureRate(elapsed)
  const typical = rememberTypical()
  let bytesHeld = 0

  return {
    enter(tenantId, senderId, events, bytes) {
      const wait = waiting.before(tenantId, senderId) / groups.rate
      if (wait > ADMITTED_WAIT_MS || groups.stalledMs() > ADMITTED_WAIT_MS || bytesHeld + bytes > MAX_BYTES)
        throw unavailable(
          'More is waiting to be published than can be done in time',
          Math.ceil(Math.max(1_000, wait) / 1_000),
        )
      let work = workOf(events, 0, bytes, 0) + events * typical.of(tenantId)
      waiting.add(tenantId, senderId, work)
      bytesHeld += bytes
      return {
        revise(known) {
          waiting.remove(tenantId, senderId, work)
          waiting.add(tenantId, senderId, known)
          typical.learn(tenantId, Math.max(0, known - workOf(events, 0, bytes, 0)) / events)
          work = known
        },
        leave() {
          waiting.remove(tenantId, senderId, work)
          bytesHeld -= bytes
        },
      }
    },
    begin: groups.begin,
    get work() {
      return waiting.total
    },
    get rate() {
      return groups.rate
    },
  }
}
