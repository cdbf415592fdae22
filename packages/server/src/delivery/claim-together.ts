// Claims that share a transaction.
//
// 1. On a store with several concurrent writers: an event wakes all of its receivers at once. Without this, each of
//    their claims would need a transaction and a connection of its own. There is one statement for each mailbox; they
//    go out together with the commit, in one round trip. While a claim is on its way, a publish may hand it new
//    deliveries, in the publish's own transaction.
// 2. On a store with one writer: it commits claims together with the publishes that arrived beside them. A claim that
//    has taken all that was due is handed what the same commit publishes into its mailbox.
//
// Without the handover a receiver that was late once stays late: each event is written just before the receiver's poll
// arrives, and is claimed by the commit after. On PostgreSQL, at 300 events a second, the median was 8 to 10 ms without
// it and is 4 with it.
import { failedAlone, makeBatches } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import { StoreUnavailable, type Db, type Store, type TxOptions } from '../store/db.ts'
import type { Leased } from './claimed.ts'
import type { Handover, Offer } from './handover.ts'
import type { DeliveryPolicy } from './policy.ts'
import { leasesOf, type PutBack } from './put-back.ts'
import { claimRows, type Stretch } from './claim-sql.ts'
import { byMailbox, notePoll, type Mailbox } from './sql.ts'

interface MailboxPoll {
  mailbox: Mailbox
  limit: number
  policy: DeliveryPolicy
  /** Whether the time of this poll is written to the store. */
  isNoted: boolean
  /** Only what lies in this part of the mailbox is claimed (crowded.ts). */
  stretch?: Stretch | undefined
}

export type ClaimTogether = (poll: MailboxPoll) => Promise<Leased>

/** Losing a lease to a power cut does no harm: the delivery comes again, with the same attempt number. */
const MAY_BE_LOST = { mayBeLost: true }
const txOptionsOf = ({ mailbox }: MailboxPoll): TxOptions => ({
  ...MAY_BE_LOST,
  caller: { tenantId: mailbox.tenantId, id: mailbox.recipientId },
})
const MOST_POLLS = 64
const NO_WAKE = (): void => {}

/** Wraps a statement whose result is needed only after its transaction: on PostgreSQL the commit goes out with it. */
export function resultAfterCommit<T>(result: Promise<T>): () => Promise<T> {
  result.catch(() => {}) // then the transaction fails too, with the same reason
  return () => result
}

const withHanded = ({ rows, until }: Leased, handed: Leased): Leased => ({
  rows: [...rows, ...handed.rows],
  until: Math.min(until, handed.until),
})

export function makeClaimTogether(store: Store, clock: Clock, handover: Handover, putBack: PutBack): ClaimTogether {
  /** Begins the lease here and not when the poll arrived: the poll may have waited for its turn. */
  function begin(tx: Db, { mailbox, limit, policy, isNoted, stretch }: MailboxPoll): () => Promise<Leased> {
    const now = clock.now()
    const until = now + policy.visibilityTimeoutMs
    if (isNoted) notePoll(tx, mailbox, now)
    const leased = resultAfterCommit(claimRows(tx, mailbox, limit, until, now, policy.maxAttempts, stretch))
    return async () => ({ rows: await leased(), until })
  }

  const alone: ClaimTogether = async (poll) => (await store.tx(async (tx) => begin(tx, poll), txOptionsOf(poll)))()

  async function aloneOffered(poll: MailboxPoll): Promise<Leased> {
    let offer: Offer | null = null
    try {
      const leased = await store.tx(async (tx) => {
        const taken = await begin(tx, poll)()
        const room = poll.limit - taken.rows.length
        if (room > 0) offer = handover.offer(poll.mailbox, room, NO_WAKE)
        return taken
      }, txOptionsOf(poll))
      const handed = await (offer as Offer | null)?.end()
      return handed ? withHanded(leased, handed) : leased
    } catch (error) {
      void (offer as Offer | null)?.end()
      throw error
    }
  }

  if (store.writers === 1) return aloneOffered

  async function run(polls: readonly MailboxPoll[]): Promise<Promise<Leased>[]> {
    if (polls.length === 1 || store.isSharded) return polls.map(alone)
    const sorted = polls.toSorted(byMailbox)
    try {
      const leases = await store.tx(async (tx) => sorted.map((poll) => begin(tx, poll)), MAY_BE_LOST)
      return polls.map((poll) => leases[sorted.indexOf(poll)]!())
    } catch (error) {
      // A failure of one claim does not fail the others. All are failed by a store that is away or busy: alone, each
      // would wait as long again.
      return polls.map((poll) => (error instanceof StoreUnavailable ? failedAlone(error) : alone(poll)))
    }
  }

  const batches = makeBatches<MailboxPoll, Leased>({ run, maxItems: MOST_POLLS })

  /**
   * Up to half of the limit may be handed to the poll meanwhile; what exceeds the limit afterwards is put back. A poll
   * with a limit of one has no room beside what it claims.
   */
  return async (poll) => {
    const room = Math.floor(poll.limit / 2)
    if (room === 0) return batches.add(poll)
    const offer = handover.offer(poll.mailbox, room, NO_WAKE)
    const [claimed] = await Promise.allSettled([batches.add(poll)])
    const handed = await offer.end()
    const leased = claimed.status === 'fulfilled' ? claimed.value : null
    if (handed) {
      const tooMuch = handed.rows.splice(poll.limit - (leased?.rows.length ?? 0))
      if (tooMuch.length > 0) await putBack(poll.mailbox, leasesOf(tooMuch))
      if (handed.rows.length > 0) return leased ? withHanded(leased, handed) : handed
    }
    if (claimed.status === 'rejected') throw claimed.reason
    return claimed.value
  }
}
