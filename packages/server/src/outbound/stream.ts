// One open stream: the deliveries it holds, and the bytes it writes as server-sent events.
//
// 1. It holds at most `max` deliveries that are not settled. A place is freed when the delivery is acknowledged or
//    given back, or when its lease lapses.
// 2. Nothing is claimed that the reader does not take: while the connection is full, claiming stops, and what was
//    claimed before is not written.
// 3. A long delivery is read when its turn comes, and keeps the turn until its reader has taken it: five thousand
//    readers that take nothing would otherwise hold five gigabytes.
import type { Claim } from '../delivery/claim.ts'
import type { ClaimedDelivery, EndingLease, Lease, LeasedDelivery } from '../delivery/claimed.ts'
import type { Mailbox } from '../delivery/sql.ts'
import type { Clock } from '../kernel/clock.ts'
import type { InTurn } from '../kernel/in-turn.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import { Stop } from '../kernel/stop.ts'
import { makeHeldLeases } from './held-leases.ts'
import { makeReader, type Reader, type Sink } from './reader.ts'
import type { LeaseRow } from './sql.ts'

/** Claims are sized so that about this much is under way at once, whatever the size of a delivery. */
const CLAIM_BYTES = 65_536
const FIRST_GUESS_BYTES = 16_384
/** A slower reader goes on reading what was written, but does not keep its turn: other leases would run out. */
const LONGEST_TURN_MS = 10_000

export interface Stream {
  readonly mailbox: Mailbox
  readonly reader: Reader
  /** Claims what is due and writes it while there is room. */
  pump(): void
  /** Called when the reader has caught up. */
  drained(): void
  /** These deliveries are acknowledged: their places are free. */
  settled(ids: readonly string[]): void
  /** These leases were given back. */
  givenBack(ended: readonly Lease[]): void
  /** Takes over what the store says about the leases in `asked`, by id. One without a row belongs to another holder. */
  refresh(asked: readonly Lease[], rows: ReadonlyMap<string, LeaseRow>, now: number): void
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

/** Returns a delivery as one event. Line breaks in JSON can only be white space between its parts. */
export function deliveryEvent({ id, json }: Pick<LeasedDelivery, 'id' | 'json'>): string {
  const line = json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]+/g, ' ') : json
  return `event: delivery\nid: ${id}\ndata: ${line}\n\n`
}

export interface StreamTools {
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
  let again = false
  let wasFilled = false
  let closed = false
  let bytes = FIRST_GUESS_BYTES
  let pumping: Promise<void> | null = null
  let claiming: Promise<unknown> | null = null
  /** Stopped when the reader has taken what was written, and when the stream is closed. */
  let taken = new Stop()

  const write = (text: string): void => {
    bytes = Math.round(bytes * 0.8 + text.length * 0.2) || 1
    reader.write(text)
  }

  const caughtUp = (): Promise<void> => new Promise((resolve) => taken.addEventListener('abort', resolve))

  async function writeOut({ id, json }: ClaimedDelivery): Promise<void> {
    if (typeof json === 'string') return write(deliveryEvent({ id, json }))
    await longInTurn(who, async () => {
      // On SQLite nothing below waits while the reader is quick, so others would have no turn.
      await nextTurn()
      // The lease may have run out, or been settled, before its turn came.
      if (closed || !leases.has(id)) return
      const text = await json()
      if (text === undefined) leases.settled([id])
      if (text === undefined || closed) return
      write(deliveryEvent({ id, json: text }))
      if (reader.isBehind()) await clock.sleep(LONGEST_TURN_MS, taken)
    })
  }

  async function run(): Promise<void> {
    do {
      again = false
      const room = max - leases.size
      if (room < 1 && !wasFilled) filled()
      wasFilled = room < 1
      if (closed || reader.isBehind() || room < 1) return
      const limit = Math.max(1, Math.min(room, Math.floor(CLAIM_BYTES / bytes)))
      const claimed = claim(mailbox, limit)
      claiming = claimed.catch(() => {})
      const deliveries = await claimed
      leases.add(deliveries)
      for (const delivery of deliveries) {
        if (reader.isBehind() && !closed) await caughtUp()
        // Its lease may have run out, or been settled, while the reader was behind.
        if (!closed && leases.has(delivery.id)) await writeOut(delivery)
      }
      if (deliveries.length === limit) again = true
    } while (again)
  }

  function pump(): void {
    again = true
    pumping ??= run()
      .catch(failed)
      .finally(() => (pumping = null))
  }

  return {
    mailbox,
    reader,
    pump,
    drained() {
      reader.drained()
      taken.stop()
      taken = new Stop()
      pump()
    },
    settled(ids) {
      if (leases.settled(ids)) pump()
    },
    givenBack(ended) {
      if (leases.givenBack(ended)) pump()
    },
    refresh(asked, rows, at) {
      leases.refresh(asked, rows, at)
      pump()
    },
    async close(last) {
      if (!closed) {
        closed = true
        taken.stop()
        reader.end(last)
      }
      await claiming
    },
    held: leases.list,
    isFull: () => leases.size >= max,
    isIdle: () => !closed && !reader.isBehind() && pumping === null && leases.size < max,
    lapsesAt: leases.lapsesAt,
  }
}
