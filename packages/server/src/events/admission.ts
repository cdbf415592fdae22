// Admission to the publishing queue. It counts work, not events: an event with three hundred recipients is three
// hundred rows. A submission that could not begin within two seconds is refused at once, so that the caller learns it
// while it can still do something else, and memory never holds more than two seconds of work.
import { unavailable } from '../kernel/failure.ts'

/** A submission that would wait longer than this is refused at once. */
const ADMITTED_WAIT_MS = 2_000
/** A submission that has waited longer is not begun. The bound above is an estimate, so this is twice as long. */
export const MAX_WAIT_MS = 4_000
/** Characters, because a text knows how many it has. In memory each takes one byte or two. */
const MAX_CHARACTERS = 64_000_000
/**
 * A longer submission counts as this long, or one that the limits of bodies allow would be refused for ever. It is held
 * once anyway, as a body (http/room.ts).
 */
const MOST_COUNTED = MAX_CHARACTERS / 2
/** Units a millisecond, assumed before anything was measured. */
const FIRST_GUESS = 50
const LEAST = 1
/** A smaller group says more about the time of a commit than about the rate of work. */
const WORTH_MEASURING = 200
const MEASURED_OVER_MS = 500
/** How many tenants have their typical event remembered. */
const MAX_TYPICAL = 10_000

/**
 * The work of publishing, in units of one delivery row, some eight microseconds. An event counts as four rows, the
 * chain above a cause as two, a thousand characters as one, and 800 filter steps as one.
 */
export const workOf = (events: number, deliveries: number, characters: number, steps: number, causes = 0): number =>
  4 * events + deliveries + characters / 1_000 + steps / 800 + 2 * causes

export interface Admitted {
  /** Replaces the estimate once the work is known. */
  revise(work: number): void
  leave(): void
}

interface Admission {
  /** Admits this many events, or throws service_unavailable. */
  enter(tenantId: string, senderId: string, events: number, characters: number): Admitted
  /** Notes that a group of these tenants begins. Returns a function to call when it has ended. */
  begin(work: number, tenantIds: ReadonlySet<string>): () => void
  /** Work that is waiting or under way. */
  readonly work: number
  /** The recent rate of work, in units a millisecond. */
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
    // Tenants take turns, and senders inside a tenant: a sender with little waiting waits for little of others' work.
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
      // Floating-point sums: a difference that should be zero may not be exactly zero.
      if (left < 0.001) held.senders.delete(senderId)
      else held.senders.set(senderId, left)
      if (held.senders.size === 0) tenants.delete(tenantId)
    },
  }
  return counted
}

interface Group {
  since: number
  tenantIds: ReadonlySet<string>
}

/** Measures how much work is done in a millisecond, from the groups that ended recently. */
function measureRate(elapsed: () => number, lanes: number) {
  const underWay = new Set<Group>()
  let lastEnded = 0
  let lastBegan = 0
  const isUnderWay = (tenantId: string): boolean => [...underWay].some(({ tenantIds }) => tenantIds.has(tenantId))
  const measured = {
    rate: FIRST_GUESS,
    /**
     * For how long no group has begun, while a submission of the tenant would have to wait for one to end: the disk or
     * the server stalls. A tenant with nothing under way has a lane beside the others, where there are several.
     */
    stalledMs(tenantId: string): number {
      if (underWay.size < lanes) return 0
      const isBeside = lanes > 1 && underWay.size === lanes && !isUnderWay(tenantId)
      return isBeside ? 0 : elapsed() - lastBegan
    },
    begin(work: number, tenantIds: ReadonlySet<string>): () => void {
      const group = { since: elapsed(), tenantIds }
      underWay.add(group)
      lastBegan = group.since
      return () => {
        underWay.delete(group)
        const now = elapsed()
        // With several groups under way at once, the time since the last one ended counts as the time of this one.
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

/** The recent work of a tenant's events beyond their own rows and texts: an estimate before they are routed. */
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

/** `lanes`: how many groups may be under way at once. */
export function makeAdmission(elapsed: () => number, lanes: number): Admission {
  const waiting = countWork()
  const groups = measureRate(elapsed, lanes)
  const typical = rememberTypical()
  let charactersHeld = 0

  return {
    enter(tenantId, senderId, events, characters) {
      const counted = Math.min(characters, MOST_COUNTED)
      const wait = waiting.before(tenantId, senderId) / groups.rate
      if (
        wait > ADMITTED_WAIT_MS ||
        groups.stalledMs(tenantId) > ADMITTED_WAIT_MS ||
        charactersHeld + counted > MAX_CHARACTERS
      )
        throw unavailable(
          'More is waiting to be published than can be done in time',
          Math.ceil(Math.max(1_000, wait) / 1_000),
        )
      let work = workOf(events, 0, characters, 0) + events * typical.of(tenantId)
      waiting.add(tenantId, senderId, work)
      charactersHeld += counted
      return {
        revise(known) {
          waiting.remove(tenantId, senderId, work)
          waiting.add(tenantId, senderId, known)
          typical.learn(tenantId, Math.max(0, known - workOf(events, 0, characters, 0)) / events)
          work = known
        },
        leave() {
          waiting.remove(tenantId, senderId, work)
          charactersHeld -= counted
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
