// One open stream: the deliveries it holds, and when it takes more.
//
// 1. It holds at most `max` deliveries that are not settled. A place is freed when the delivery is acknowledged or
//    given back, or when its lease lapses.
// 2. Nothing is claimed that the reader does not take: while the connection is full, claiming stops, and what was
//    claimed before is not written.
// 3. A stream that has taken all that was due offers its room to the publishes that follow: a delivery is stored as
//    already leased to it, and needs no claim (delivery/handover.ts). It claims again when something else may be due.
import type { Claim } from '../delivery/claim.ts'
import type { ClaimedDelivery, EndingLease, Lease, OfferedPlace } from '../delivery/claimed.ts'
import type { Mailbox } from '../delivery/sql.ts'
import type { Clock } from '../kernel/clock.ts'
import type { InTurn } from '../kernel/in-turn.ts'
import { makeReader, type Reader, type Sink } from '../streams/reader.ts'
import { makeHeldLeases } from './held-leases.ts'
import type { LeaseRow } from './sql.ts'
import { makeWriteDeliveries } from './write-deliveries.ts'

export interface Stream {
  readonly mailbox: Mailbox
  readonly reader: Reader
  /** Something may be due: claims it and writes it while there is room. */
  pump(): void
  /** Called when the reader has caught up. */
  drained(): void
  /** These deliveries are acknowledged: their places are free. */
  settled(ids: readonly string[]): void
  /** These leases were given back. */
  givenBack(ended: readonly Lease[]): void
  /** Takes over what the store says about the leases in `asked`, by id. One without a row is over. */
  refresh(asked: readonly Lease[], rows: ReadonlyMap<string, LeaseRow>): void
  /**
   * Ends the stream, with a last text if the reader is still there. Resolves when nothing is being claimed for it any
   * more.
   */
  close(last?: string): Promise<void>
  held(): EndingLease[]
  isFull(): boolean
  isIdle(): boolean
  /** When the first lease of the stream lapses. */
  lapsesAt(): number
}

interface StreamTools {
  claim: Claim
  clock: Clock
  longInTurn: InTurn
  /** Called when the stream has claimed all that it may hold. */
  filled(): void
  /** Called when a claim fails, for example because the store is unavailable. */
  failed(error: unknown): void
}

export function openStream(mailbox: Mailbox, max: number, sink: Sink, tools: StreamTools): Stream {
  const { claim, clock, longInTurn, filled, failed } = tools
  const who = { tenantId: mailbox.tenantId, id: mailbox.recipientId }
  const leases = makeHeldLeases()
  const reader = makeReader(sink, clock)
  const writing = makeWriteDeliveries(reader, leases, { clock, longInTurn: (run) => longInTurn(who, run) })
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

  /** Takes what was handed over, claims if something may be due, and offers the room that is left. */
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

  function pump(): void {
    mayBeDue = true
    goOn()
  }

  return {
    mailbox,
    reader,
    pump,
    drained() {
      reader.drained()
      writing.caughtUp()
      goOn()
    },
    settled(ids) {
      if (leases.settled(ids)) goOn()
    },
    givenBack(ended) {
      if (leases.givenBack(ended)) pump()
    },
    refresh(asked, rows) {
      leases.refresh(asked, rows)
      pump()
    },
    async close(last) {
      if (!closed) {
        closed = true
        writing.stop()
        reader.end(last)
        const handed = endOffer()
        if (handed) await takeIn(handed).catch(() => {})
      }
      await claiming
    },
    held: leases.list,
    isFull: () => leases.size >= max,
    isIdle: () => !closed && !reader.isBehind() && working === null && leases.size < max,
    lapsesAt: leases.lapsesAt,
  }
}
