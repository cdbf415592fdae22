// Writes the deliveries that a stream holds as server-sent events, as fast as its reader takes them.
//
// A long delivery is read when its turn comes, and keeps the turn until its reader has taken it: five thousand readers
// that take nothing would otherwise hold five gigabytes.
import type { ClaimedDelivery, LeasedDelivery } from '../delivery/claimed.ts'
import type { Clock } from '../kernel/clock.ts'
import { nextTurn } from '../kernel/step-turns.ts'
import { Stop } from '../kernel/stop.ts'
import type { Reader } from '../streams/reader.ts'
import type { HeldLeases } from './held-leases.ts'

/** As many deliveries are taken at once as have about this many bytes together, by the size of the last ones. */
const AT_ONCE_BYTES = 65_536
const FIRST_GUESS_BYTES = 16_384
/** A slower reader goes on reading what was written, but does not keep its turn: other leases would run out. */
const LONGEST_TURN_MS = 10_000

export interface WriteDeliveries {
  /** Writes those that are still held when it is their turn. */
  write(deliveries: readonly ClaimedDelivery[]): Promise<void>
  /** How many deliveries are to be under way at once. */
  mostAtOnce(): number
  /** Called when the reader has taken what was written. */
  caughtUp(): void
  /** Writes nothing more. */
  stop(): void
}

interface WriteDeliveriesTools {
  clock: Clock
  /** Gives long deliveries their turn, by the owner of the stream. */
  longInTurn(run: () => Promise<void>): Promise<void>
}

/** Returns a delivery as one event. Line breaks in JSON can only be white space between its parts. */
export function deliveryEvent({ id, json }: Pick<LeasedDelivery, 'id' | 'json'>): string {
  const line = json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]+/g, ' ') : json
  return `event: delivery\nid: ${id}\ndata: ${line}\n\n`
}

export function makeWriteDeliveries(
  reader: Reader,
  leases: HeldLeases,
  { clock, longInTurn }: WriteDeliveriesTools,
): WriteDeliveries {
  let stopped = false
  /** What a delivery of late had on average. */
  let usualBytes = FIRST_GUESS_BYTES
  /** Stopped when the reader has taken what was written, and at the end. */
  let taken = new Stop()

  const caughtUp = (): Promise<void> => new Promise((resolve) => taken.addEventListener('abort', resolve))

  function writeEvent(id: string, json: string): void {
    const text = deliveryEvent({ id, json })
    usualBytes = Math.round(usualBytes * 0.8 + text.length * 0.2) || 1
    reader.write(text)
  }

  async function writeLong(id: string, read: () => Promise<string | undefined>): Promise<void> {
    // On SQLite nothing below waits while the reader is quick, so others would have no turn.
    await nextTurn()
    // The lease may have run out, or been settled, before its turn came.
    if (stopped || !leases.has(id)) return
    const text = await read()
    if (text === undefined) leases.settled([id])
    if (text === undefined || stopped) return
    writeEvent(id, text)
    if (reader.isBehind()) await clock.sleep(LONGEST_TURN_MS, taken)
  }

  return {
    async write(deliveries) {
      for (const { id, json } of deliveries) {
        if (reader.isBehind() && !stopped) await caughtUp()
        // Its lease may have run out, or been settled, while the reader was behind.
        if (stopped || !leases.has(id)) continue
        if (typeof json === 'string') writeEvent(id, json)
        else await longInTurn(() => writeLong(id, json))
      }
    },
    mostAtOnce: () => Math.max(1, Math.floor(AT_ONCE_BYTES / usualBytes)),
    caughtUp() {
      taken.stop()
      taken = new Stop()
    },
    stop() {
      stopped = true
      taken.stop()
    },
  }
}
