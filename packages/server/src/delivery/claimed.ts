// The result of a claim: leased deliveries on their way to their receiver.
import type { StopSignal } from '../kernel/stop.ts'
import type { ClaimedRow } from './claim-sql.ts'
import type { Mailbox } from './sql.ts'

/** What identifies a lease: the delivery, and the number of its attempt, counted over replays. */
export interface Lease {
  id: string
  lease: number
}

/** A lease with its end. The end is not what identifies it: whoever extends the lease moves it. */
export interface EndingLease extends Lease {
  /** When the lease lapses. */
  until: number
}

/** What was leased at once, as it is stored. */
export interface Leased {
  rows: ClaimedRow[]
  /** When the first of the leases lapses. */
  until: number
}

/** A delivery on its way out: its lease, and its wire form as JSON text. */
export interface LeasedDelivery extends EndingLease {
  json: string
}

/** A delivery with a long payload, which is read on demand; undefined if it is gone by then. */
interface LongDelivery extends Omit<LeasedDelivery, 'json'> {
  json: () => Promise<string | undefined>
}

export type ClaimedDelivery = LeasedDelivery | LongDelivery

/** Claims what is due, and waits for it up to `waitMs`. */
export type WaitForDeliveries = (
  mailbox: Mailbox,
  limit: number,
  waitMs: number,
  gone: StopSignal,
  checkCaller: () => Promise<void>,
) => Promise<ClaimedDelivery[]>

/** A place for what is published into a mailbox meanwhile (handover.ts). */
export interface OfferedPlace {
  /** Gives the place up. Returns what was handed over, or null; waits for a transaction that hands something over. */
  end(): Promise<ClaimedDelivery[]> | null
}

/**
 * Whether a claim first looks for something due: an empty mailbox then costs a read and no transaction. If something
 * was put in a moment ago, or the last poll got all it asked for, looking would only cost time. `unless_known` leaves
 * that to what this node has noted of the mailbox (poll-notes.ts).
 */
export type Look = 'always' | 'unless_known' | 'never'
