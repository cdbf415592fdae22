// Takes deliveries for a stream while it has room for them: claims what is due, and offers the room that is left.
//
// A stream that has taken all that was due offers its room to the publishes that follow: a delivery is stored as
// already leased to it, and needs no claim (delivery/handover.ts). It claims again when something else may be due.
import type { Claim } from '../delivery/claim.ts'
import type { ClaimedDelivery, OfferedPlace } from '../delivery/claimed.ts'
import type { Mailbox } from '../delivery/sql.ts'
import type { Reader } from '../streams/reader.ts'
import type { HeldLeases } from './held-leases.ts'
import type { WriteDeliveries } from './write-deliveries.ts'

export interface TakeTools {
  claim: Claim
  leases: HeldLeases
  reader: Reader
  writing: WriteDeliveries
  /** Called when the stream has claimed all that it may hold. */
  filled(): void
  /** Called when a claim fails, for example because the store is unavailable. */
  failed(error: unknown): void
}

interface TakeDeliveries {
  /** Something may be due: claims it and writes it while there is room. */
  pump(): void
  /** Takes what was handed over, claims if something may be due, and offers the room that is left. */
  goOn(): void
  /** Whether it waits for something to happen. */
  isResting(): boolean
  /** Takes nothing more, and calls `end` the first time. Resolves when nothing is being claimed any more. */
  close(end: () => void): Promise<void>
}

/** The stream has at most `max` deliveries at a time. */
export function makeTakeDeliveries(mailbox: Mailbox, max: number, tools: TakeTools): TakeDeliveries {
  const { claim, leases, reader, writing, filled, failed } = tools
  /** Whether something may be due that no publish hands over. */
  let mayBeDue = true
  let offered: OfferedPlace | null = null
  /** Set when the stream was asked to go on while it was already at work. */
  let again = false
  let wasFilled = false
  let closed = false
  let working: Promise<void> | null = null
  let claiming: Promise<unknown> | null = null

  /** Holds what was claimed and writes it. Returns how many deliveries these are. */
  async function takeIn(claimed: Promise<ClaimedDelivery[]>): Promise<number> {
    claiming = claimed.catch(() => {})
    const deliveries = await claimed
    leases.add(deliveries)
    await writing.write(deliveries)
    return deliveries.length
  }

  /** Gives up the place that was offered. Returns what was handed over to it, or null. */
  function endOffer(): Promise<ClaimedDelivery[]> | null {
    const ended = offered?.end() ?? null
    offered = null
    return ended
  }

  async function run(): Promise<void> {
    for (;;) {
      again = false
      const handed = endOffer()
      if (handed) await takeIn(handed)
      const room = max - leases.size
      if (room < 1 && !wasFilled) filled()
      wasFilled = room < 1
      if (closed || reader.isBehind() || room < 1) return
      const limit = Math.min(room, writing.mostAtOnce())
      if (!mayBeDue) return void (offered = claim.offer(mailbox, limit, goOn))
      mayBeDue = false
      if ((await takeIn(claim(mailbox, limit))) === limit) mayBeDue = true
    }
  }

  function goOn(): void {
    again = true
    working ??= run()
      .catch((error: unknown) => {
        mayBeDue = true
        failed(error)
      })
      .finally(() => {
        working = null
        if (again) goOn()
      })
  }

  return {
    pump() {
      mayBeDue = true
      goOn()
    },
    goOn,
    isResting: () => !closed && working === null,
    async close(end) {
      if (!closed) {
        closed = true
        end()
        const handed = endOffer()
        if (handed) await takeIn(handed).catch(() => {})
      }
      await claiming
    },
  }
}
