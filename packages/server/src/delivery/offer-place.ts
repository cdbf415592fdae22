// A place that a stream offers to the publishes that follow: see handover.ts.
import type { Clock } from '../kernel/clock.ts'
import type { Store } from '../store/db.ts'
import type { ClaimedDelivery, Leased, OfferedPlace } from './claimed.ts'
import type { Handover } from './handover.ts'
import type { PollNotes } from './poll-notes.ts'
import { notePollAlone, type Mailbox } from './sql.ts'

interface OfferPlaceTools {
  store: Store
  clock: Clock
  handover: Handover
  notes: PollNotes
  handOut(mailbox: Mailbox, leased: Leased): Promise<ClaimedDelivery[]>
}

/** Offers a place for up to `limit` deliveries. `handed` is called once something was handed over. */
export type OfferPlace = (mailbox: Mailbox, limit: number, handed: () => void) => OfferedPlace

export function makeOfferPlace({ store, clock, handover, notes, handOut }: OfferPlaceTools): OfferPlace {
  async function take(mailbox: Mailbox, leased: Leased | null): Promise<ClaimedDelivery[]> {
    if (leased === null) return []
    const now = clock.now()
    // Its receiver looks at its mailbox, as one that polls.
    if (notes.polled(mailbox, now).isToWrite) notePollAlone(store, mailbox, now)
    notes.leased(mailbox, leased.until)
    return handOut(mailbox, leased)
  }

  return (mailbox, limit, handed) => {
    const offer = handover.offer(mailbox, limit, handed)
    return {
      end() {
        const taken = offer.end()
        return taken && Promise.resolve(taken).then((leased) => take(mailbox, leased))
      },
    }
  }
}
