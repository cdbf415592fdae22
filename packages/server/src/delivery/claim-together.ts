// Claims that share a transaction. An event wakes all of its receivers at once, and where several writers gain from
// running side by side each claim had a transaction and a connection of its own. Statements stay one for each mailbox and
// go out together with the commit, in one round trip.
import { failedAlone, makeBatches } from '../kernel/batches.ts'
import type { Clock } from '../kernel/clock.ts'
import { StoreUnavailable, type Db, type Store } from '../store/db.ts'
import type { DeliveryPolicy } from './policy.ts'
import { claimRows, notePoll, type ClaimedRow, type Mailbox } from './sql.ts'

export interface MailboxPoll {
  mailbox: Mailbox
  limit: number
  policy: DeliveryPolicy
  /** Whether it is written down that the mailbox was polled. */
  isNoted: boolean
}

export interface Leased {
  rows: ClaimedRow[]
  /** When their leases lapse. */
  until: number
}

export type ClaimTogether = (poll: MailboxPoll) => Promise<Leased>

/** A lease that a power cut takes back is no harm: the delivery comes again, with the same attempt. */
export const FORGETTABLE = { mayBeLost: true }
const MOST_POLLS = 64

/** A statement whose result is needed after its transaction only: on PostgreSQL the commit goes out with it. */
export function unawaited<T>(result: Promise<T>): () => Promise<T> {
  result.catch(() => {}) // then the commit fails too, and says why
  return () => result
}

/** One order for all nodes: two that note the same mailboxes can then wait for each other in one direction only. */
const inOrder = (a: MailboxPoll, b: MailboxPoll): number => (a.mailbox.recipientId < b.mailbox.recipientId ? -1 : 1)

export function makeClaimTogether(store: Store, clock: Clock): ClaimTogether {
  /** The lease begins here and not when the poll came: it may have waited for its turn. */
  function begin(tx: Db, { mailbox, limit, policy, isNoted }: MailboxPoll): () => Promise<Leased> {
    const now = clock.now()
    const until = now + policy.visibilityTimeoutMs
    if (isNoted) notePoll(tx, mailbox, now)
    const leased = unawaited(claimRows(tx, mailbox, limit, until, now, policy.maxAttempts))
    return async () => ({ rows: await leased(), until })
  }

  const alone: ClaimTogether = async (poll) => (await store.tx(async (tx) => begin(tx, poll), FORGETTABLE))()
  if (store.writers === 1) return alone

  async function run(polls: readonly MailboxPoll[]): Promise<Promise<Leased>[]> {
    if (polls.length === 1 || store.isSharded) return polls.map(alone)
    const sorted = polls.toSorted(inOrder)
    try {
      const leases = await store.tx(async (tx) => sorted.map((poll) => begin(tx, poll)), FORGETTABLE)
      return polls.map((poll) => leases[sorted.indexOf(poll)]!())
    } catch (error) {
      // What one of them runs into is not its neighbours' trouble.
      return polls.map((poll) => (error instanceof StoreUnavailable ? failedAlone(error) : alone(poll)))
    }
  }

  const batches = makeBatches<MailboxPoll, Leased>({ run, maxItems: MOST_POLLS })
  return (poll) => batches.add(poll)
}
