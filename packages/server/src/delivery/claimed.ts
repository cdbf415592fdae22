// What a claim brings: deliveries that are leased, on their way to their receiver.
import type { StopSignal } from '../kernel/stop.ts'
import type { Mailbox } from './sql.ts'

/** A delivery on its way out: its row, and its wire form as JSON text. */
export interface LeasedDelivery {
  id: string
  /** The number of its lease, and when it lapses. */
  lease: number
  until: number
  json: string
}

/** One whose payload is long: it is read when it is wanted; undefined where it is gone by then. */
export interface LongDelivery extends Omit<LeasedDelivery, 'json'> {
  json: () => Promise<string | undefined>
}

export type ClaimedDelivery = LeasedDelivery | LongDelivery

/** Claims what is due, waiting for it up to `waitMs`. */
export type WaitForDeliveries = (
  mailbox: Mailbox,
  limit: number,
  waitMs: number,
  gone: StopSignal,
  checkCaller: () => Promise<void>,
) => Promise<ClaimedDelivery[]>

/**
 * Whether a claim looks first if something is due: an empty mailbox then costs a read and no transaction. Where
 * something was just put in, or the last poll got all it asked for, looking would only cost time.
 */
export type Look = 'needed' | 'unless_known' | 'skipped'
