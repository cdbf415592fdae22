// Hands a published delivery to a poll or a stream that waits for it, in the transaction that stores the delivery. It
// is stored as leased, and goes out once that is on disk. Otherwise its receiver waits for two commits, the delivery's
// and the lease's.
//
// 1. A poll is offered while it sleeps, having looked and found nothing due, or while it claims (claim-together.ts); a
//    stream while it has room and has taken all that was due (outbound/take-deliveries.ts). Both are called polls
//    here.
// 2. A paused agent is handed nothing. The routing of the transaction says which agents are paused, on every node.
// 3. A poll that a transaction has taken belongs to it until it ends. Then the poll has deliveries, or looks again.
import { SHORT_LENGTH } from '../kernel/lengths.ts'
import type { LeasedDeliveryRow, NewDeliveryRow } from './insert-deliveries.ts'
import type { Leased } from './claimed.ts'
import { inDeliveryOrder, type ClaimedRow } from './claim-sql.ts'
import type { Mailbox } from './sql.ts'
import type { PolicyOf } from './policy.ts'

/** A new delivery with the text that its receiver gets. */
export interface NewDelivery extends NewDeliveryRow {
  envelope: string
}

export interface Offer {
  /** Ends the offer. Returns what was handed to the poll, or null; waits for a transaction that has taken the poll. */
  end(): Leased | null | Promise<Leased | null>
}

export interface PendingHandover {
  /** `leased` are the deliveries that waiting polls take, `ready` are all others. */
  leased: LeasedDeliveryRow[]
  ready: readonly NewDelivery[]
  /** Called when the transaction has ended. */
  settle(isCommitted: boolean): void
}

export interface Handover {
  /** Offers a sleeping poll; `wake` ends its sleep. */
  offer(mailbox: Mailbox, limit: number, wake: () => void): Offer
  /** Finds waiting polls for these deliveries. Deliveries to paused agents are not handed over. */
  take(deliveries: readonly NewDelivery[], now: number, isPaused: (delivery: NewDelivery) => boolean): PendingHandover
}

interface Waiting {
  limit: number
  wake(): void
  taken: PromiseWithResolvers<Leased | null> | null
}

const NOTHING_TO_SETTLE = (): void => {}

export function makeHandover(policyOf: PolicyOf): Handover {
  const waiting = new Map<string, Set<Waiting>>()

  function withdraw(recipientId: string, poll: Waiting): void {
    const polls = waiting.get(recipientId)
    if (polls?.delete(poll) && polls.size === 0) waiting.delete(recipientId)
  }

  function takeOne(recipientId: string): Waiting {
    const [poll] = waiting.get(recipientId)!
    withdraw(recipientId, poll!)
    poll!.taken = Promise.withResolvers()
    return poll!
  }

  function lease(delivery: NewDelivery, now: number): LeasedDeliveryRow {
    const { visibilityTimeoutMs, maxAttempts } = policyOf(delivery.tenant_id)
    const until = now + visibilityTimeoutMs
    return { ...delivery, due_at: until, wake_at: maxAttempts <= 1 ? until : null }
  }

  return {
    offer({ recipientId }, limit, wake) {
      const poll: Waiting = { limit, wake, taken: null }
      const polls = waiting.get(recipientId)
      if (polls) polls.add(poll)
      else waiting.set(recipientId, new Set([poll]))
      return {
        end() {
          if (poll.taken) return poll.taken.promise
          withdraw(recipientId, poll)
          return null
        },
      }
    },

    take(deliveries, now, isPaused) {
      if (waiting.size === 0) return { leased: [], ready: deliveries, settle: NOTHING_TO_SETTLE }
      const wanted = Map.groupBy(
        deliveries,
        (delivery) => waiting.has(delivery.recipient_id) && !isPaused(delivery) && delivery.recipient_id,
      )
      const ready = wanted.get(false) ?? []
      const leased: LeasedDeliveryRow[] = []
      const handed: { poll: Waiting; rows: LeasedDeliveryRow[] }[] = []
      for (const [recipientId, theirs] of wanted) {
        if (recipientId === false) continue
        const poll = takeOne(recipientId)
        if (theirs.length > 1) theirs.sort(inDeliveryOrder)
        const rows = theirs.slice(0, poll.limit).map((delivery) => lease(delivery, now))
        ready.push(...theirs.slice(poll.limit))
        leased.push(...rows)
        handed.push({ poll, rows })
      }
      return {
        leased,
        ready,
        settle(isCommitted) {
          for (const { poll, rows } of handed) {
            poll.taken!.resolve(isCommitted ? { rows: rows.map(claimed), until: rows[0]!.due_at } : null)
            poll.wake()
          }
        },
      }
    },
  }
}

/** The row as a claim would have returned it: a long envelope is read when its turn comes. */
const claimed = (row: LeasedDeliveryRow): ClaimedRow => ({
  ...row,
  envelope: row.envelope.length <= SHORT_LENGTH ? row.envelope : null,
  attempts: 1,
  leases: 1,
  enriched: null,
  is_enriched: 0,
  lapsed: 0,
})
