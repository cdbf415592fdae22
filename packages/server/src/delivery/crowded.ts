// Mailboxes in which many deliveries are held: leased, or given back until later. They stay in the index of open
// deliveries, so a claim passes all of them before it comes to a ready one. Past 200,000 it took SQLite 200 ms, in
// which no other request was served. The first ready delivery of such a mailbox is looked for in slices, and claimed
// from there.
//
// 1. A mailbox is crowded if a claim could pass more than a slice. That is looked up again after each 2,000 leases.
// 2. One slice is read in a turn of the event loop, for all mailboxes together. Tenants take turns.
// 3. Concurrent polls of one mailbox share one search.
import type { Clock } from '../kernel/clock.ts'
import { makeStepTurns } from '../kernel/step-turns.ts'
import type { Store } from '../store/db.ts'
import { isFrontHeld, nextPriority, readSlice, type Stretch } from './claim-sql.ts'
import type { Mailbox } from './sql.ts'

/** Deliveries of a slice: two milliseconds of SQLite. */
const SLICE = 2_000
/** The most that one claim takes. */
const MAX_LIMIT = 100
/** Leases of a mailbox between two looks at its front. */
const LOOK_AFTER = 2_000
const MAX_KNOWN = 100_000

interface Crowd {
  /** Deliveries that were leased since the last look at the front. */
  leased: number
  isCrowded: boolean
}

interface Crowds {
  /** Called after each look into a mailbox and each claim from it, with the number of deliveries that were leased. */
  looked(mailbox: Mailbox, leased: number): void
  isCrowded(mailbox: Mailbox): boolean
  /** Returns the part of a crowded mailbox that begins with its first ready delivery; null if nothing is ready. */
  firstReady(mailbox: Mailbox, now: number): Promise<Stretch | null>
}

export function makeCrowds(store: Store, clock: Pick<Clock, 'now'>, slice = SLICE): Crowds {
  const known = new Map<string, Crowd>()
  const searches = new Map<string, Promise<Stretch | null>>()
  const turns = makeStepTurns()

  async function lookAtFront(mailbox: Mailbox, crowd: Crowd): Promise<void> {
    crowd.leased = 0
    try {
      crowd.isCrowded = await isFrontHeld(store, mailbox, slice, MAX_LIMIT, clock.now())
    } catch {
      crowd.leased = LOOK_AFTER // so that the next call looks
    }
  }

  async function search(mailbox: Mailbox, now: number): Promise<Stretch | null> {
    const { tenantId, recipientId } = mailbox
    let passed = 0
    for (
      let priority = await nextPriority(store, mailbox);
      priority !== null;
      priority = await nextPriority(store, mailbox, priority)
    ) {
      for (let after = '', isMore = true; isMore; ) {
        await turns.take(tenantId, recipientId)
        const { ready, last, n } = await readSlice(store, mailbox, priority, after, slice, now)
        if (ready !== null) return { priority, first: ready, last: last! }
        passed += n
        isMore = n === slice
        after = last ?? ''
      }
    }
    if (passed < slice) known.delete(recipientId)
    return null
  }

  return {
    looked(mailbox, leased) {
      let crowd = known.get(mailbox.recipientId)
      if (crowd) crowd.leased += leased
      else {
        if (known.size >= MAX_KNOWN) known.clear()
        crowd = { leased: LOOK_AFTER, isCrowded: false }
        known.set(mailbox.recipientId, crowd)
      }
      if (crowd.leased >= LOOK_AFTER) void lookAtFront(mailbox, crowd)
    },
    isCrowded: ({ recipientId }) => known.get(recipientId)?.isCrowded ?? false,
    async firstReady(mailbox, now) {
      const { recipientId } = mailbox
      const running = searches.get(recipientId)
      if (running) return running
      const begun = search(mailbox, now)
      searches.set(recipientId, begun)
      try {
        return await begun
      } finally {
        searches.delete(recipientId)
      }
    },
  }
}
