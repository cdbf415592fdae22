// A poll that waits: it looks, sleeps until something may be due, and looks again. While it sleeps, a publish may hand
// it new deliveries (handover.ts).
import type { Clock } from '../kernel/clock.ts'
import { tooManyAtOnce } from '../kernel/failure.ts'
import { makeSharedPlaces, type Siblings } from '../kernel/shared-places.ts'
import { Stop, type StopSignal } from '../kernel/stop.ts'
import type { Store } from '../store/db.ts'
import type { ClaimedDelivery, Leased, Look, WaitForDeliveries } from './claimed.ts'
import type { Handover } from './handover.ts'
import type { PollNotes } from './poll-notes.ts'
import { leasesOf, type PutBack } from './put-back.ts'
import { readNextDue } from './claim-sql.ts'
import { notePollAlone, type Mailbox } from './sql.ts'
import type { Wakeups } from './wake.ts'

/** Without a wake-up a waiting poll looks again this often: the looks are the truth, wake-ups only shorten the wait. */
const LOOK_AGAIN_MS = 1_000
/** How many polls of one mailbox may wait on this machine, so that one agent cannot take the places of others. */
const MAX_WAITING = 32

interface WaitingTools {
  store: Store
  clock: Clock
  wakeups: Wakeups
  handover: Handover
  notes: PollNotes
  putBack: PutBack
  siblings: Siblings
  /** Claims what is due. */
  take(mailbox: Mailbox, limit: number, look: Look): Promise<ClaimedDelivery[]>
  handOut(mailbox: Mailbox, leased: Leased): Promise<ClaimedDelivery[]>
}

export function makeWaiting({
  store,
  clock,
  wakeups,
  handover,
  notes,
  putBack,
  siblings,
  take,
  handOut,
}: WaitingTools): WaitForDeliveries {
  /** Looks, unless it is known that nothing is due. Then sleeps until something may be. */
  const waitFor: WaitForDeliveries = async (mailbox, limit, waitMs, gone, checkCaller) => {
    const deadline = clock.elapsed() + waitMs
    for (let look: Look = 'unless_known'; ; ) {
      // Listening begins before looking, so that nothing can arrive between the two.
      const woken = new Stop()
      let first = false
      const stop = (): void => woken.stop()
      const cancel = wakeups.wait(mailbox, (isFirst) => {
        first = isFirst
        stop()
      })
      gone.addEventListener('abort', stop)
      const since = clock.now()
      try {
        const empty = look === 'never' ? null : notes.knownEmpty(mailbox, clock.elapsed(), clock.now())
        const found = empty ? noteOnly(mailbox) : await take(mailbox, limit, look)
        const left = deadline - clock.elapsed()
        // The client is gone: its leases would keep the deliveries from the next poll until they lapse.
        if (found.length > 0 && gone.aborted) {
          await putBack(mailbox, found)
          return []
        }
        if (found.length > 0 || left <= 0 || gone.aborted) return found
        const due = empty ? empty.due : await readNextDue(store, mailbox, since)
        if (!empty && !woken.aborted) notes.foundEmpty(mailbox, due, clock.elapsed())
        const ms = Math.min(left, LOOK_AGAIN_MS, due === null ? Infinity : Math.max(1, due - clock.now()))
        const handed = await sleepOffered(mailbox, limit, ms, woken)
        // Nothing goes out if its lease is nearly over: then the poll goes on.
        const delivered = handed ? await deliver(mailbox, handed, gone, checkCaller) : []
        if (delivered.length > 0 || gone.aborted) return delivered
        // The first of many polls that wait at one mailbox claims at once; the others look whether it left something.
        look = first ? 'never' : 'always'
        await checkCaller()
      } finally {
        cancel()
        gone.removeEventListener('abort', stop)
      }
    }
  }

  /** Notes a poll that does not have to look. */
  function noteOnly(mailbox: Mailbox): ClaimedDelivery[] {
    const now = clock.now()
    if (notes.polled(mailbox, now).isToWrite) notePollAlone(store, mailbox, now)
    return []
  }

  /** Sleeps until woken or the time is over. Meanwhile the poll may be handed what is published. */
  async function sleepOffered(mailbox: Mailbox, limit: number, ms: number, woken: Stop): Promise<Leased | null> {
    if (woken.aborted) return null
    const offer = handover.offer(mailbox, limit, () => woken.stop())
    await clock.sleep(ms, woken)
    return offer.end()
  }

  /** Returns what was handed over, or puts it back if the client is gone or `checkCaller` throws. */
  async function deliver(
    mailbox: Mailbox,
    leased: Leased,
    gone: StopSignal,
    checkCaller: () => Promise<void>,
  ): Promise<ClaimedDelivery[]> {
    const { rows, until } = leased
    notes.leased(mailbox, until)
    try {
      await checkCaller()
      if (!gone.aborted) return await handOut(mailbox, leased)
    } catch (error) {
      await putBack(mailbox, leasesOf(rows))
      throw error
    }
    await putBack(mailbox, leasesOf(rows))
    return []
  }

  return limitWaiting(waitFor, siblings)
}

/** Lets `MAX_WAITING` polls wait at one mailbox, and refuses the rest. */
function limitWaiting(waitFor: WaitForDeliveries, siblings: Siblings): WaitForDeliveries {
  const places = makeSharedPlaces('polls', MAX_WAITING, siblings)
  return async (mailbox, ...rest) => {
    const taken = places.take(mailbox.recipientId)
    if (taken !== true && !(await taken)) throw tooManyAtOnce('polls of one mailbox waiting', MAX_WAITING)
    try {
      return await waitFor(mailbox, ...rest)
    } finally {
      places.leave(mailbox.recipientId)
    }
  }
}
