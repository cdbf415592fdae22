// One open stream: the deliveries it holds, and what it hears of them.
//
// 1. It holds at most `max` deliveries that are not settled. A place is freed when the delivery is acknowledged or
//    given back, or when its lease lapses.
// 2. Nothing is claimed that the reader does not take: while the connection is full, claiming stops, and what was
//    claimed before is not written.
import type { EndingLease, Lease } from '../delivery/claimed.ts'
import type { Mailbox } from '../delivery/sql.ts'
import type { Clock } from '../kernel/clock.ts'
import type { InTurn } from '../kernel/in-turn.ts'
import { makeReader, type Reader, type Sink } from '../streams/reader.ts'
import { makeHeldLeases } from './held-leases.ts'
import type { LeaseRow } from './sql.ts'
import { makeTakeDeliveries, type TakeTools } from './take-deliveries.ts'
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

interface StreamTools extends Pick<TakeTools, 'claim' | 'filled' | 'failed'> {
  clock: Clock
  longInTurn: InTurn
}

export function openStream(mailbox: Mailbox, max: number, sink: Sink, tools: StreamTools): Stream {
  const { claim, clock, longInTurn, filled, failed } = tools
  const who = { tenantId: mailbox.tenantId, id: mailbox.recipientId }
  const leases = makeHeldLeases()
  const reader = makeReader(sink, clock)
  const writing = makeWriteDeliveries(reader, leases, { clock, longInTurn: (run) => longInTurn(who, run) })
  const taking = makeTakeDeliveries(mailbox, max, { claim, leases, reader, writing, filled, failed })

  return {
    mailbox,
    reader,
    pump: taking.pump,
    drained() {
      reader.drained()
      writing.caughtUp()
      taking.goOn()
    },
    settled(ids) {
      if (leases.settled(ids)) taking.goOn()
    },
    givenBack(ended) {
      if (leases.givenBack(ended)) taking.pump()
    },
    refresh(asked, rows) {
      leases.refresh(asked, rows)
      taking.pump()
    },
    close: (last) =>
      taking.close(() => {
        writing.stop()
        reader.end(last)
      }),
    held: leases.list,
    isFull: () => leases.size >= max,
    isIdle: () => taking.isResting() && !reader.isBehind() && leases.size < max,
    lapsesAt: leases.lapsesAt,
  }
}
