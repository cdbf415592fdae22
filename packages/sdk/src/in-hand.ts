// The deliveries that a worker has in hand: those that are being handled, and those of a stream that wait to be.
//
// 1. At most `concurrency` are handled at once, and none twice at once.
// 2. Their leases are extended for as long as they are in hand.
import type { Delivery } from './contract.ts'
import type { DeliveryCalls } from './deliveries.ts'

const MAX_EXTENDED = 100
/** The most that the service extends a lease by. The visibility timeout, and so the first lease, may be longer. */
const MAX_EXTENSION_S = 3_600

interface Held {
  delivery: Delivery
  since: number
}

interface Running extends Held {
  finished: Promise<void>
  /** The delivery as it arrived again meanwhile: its lease had lapsed, or its acknowledgement was lost. */
  redelivered: Delivery | null
}

/** Acknowledges a delivery, or gives it back. */
export type Settle = () => Promise<void>

export interface InHandParts {
  deliveries: DeliveryCalls
  concurrency: number
  leaseSeconds: number
  /** Handles a delivery. Resolves to the call that reports the outcome to the service. */
  handle(delivery: Delivery): Promise<Settle>
  isStopping(): boolean
  report(error: unknown, delivery?: Delivery): void
}

export interface InHand {
  /** Starts to handle a delivery, or keeps it until its earlier handler has finished. Returns at once. */
  start(delivery: Delivery): void
  /** Starts to handle a delivery when a handler is free, but not while the worker is stopping. Returns at once. */
  startInTurn(delivery: Delivery): void
  /** Forgets the deliveries that wait for their turn. */
  forgetWaiting(): void
  /** Resolves to the number of handlers that may start, as soon as there is one. */
  freeCapacity(): Promise<number>
  /** Resolves when nothing is being handled. */
  finish(): Promise<void>
  /** Stops extending leases. */
  close(): void
}

export function makeInHand(parts: InHandParts): InHand {
  const { deliveries, concurrency, handle, isStopping, report } = parts
  const leaseSeconds = Math.min(parts.leaseSeconds, MAX_EXTENSION_S)
  const running = new Map<string, Running>()
  const waiting = new Map<string, Held>()
  let onFreed = (): void => {}

  async function handleAndSettle(delivery: Delivery, hasWaited: boolean): Promise<void> {
    // If the lease was lost meanwhile, the delivery is settled, or comes again, or somebody else has it.
    if (hasWaited && (await deliveries.extend([delivery.id], leaseSeconds)) === 0) return
    const settle = await handle(delivery)
    const entry = running.get(delivery.id)!
    const { redelivered } = entry
    await settle()
    // The service settles by delivery id, so the call settled the delivery as it had arrived again, too. What arrives
    // during the call may be the next attempt.
    if (entry.redelivered === redelivered) entry.redelivered = null
  }

  function run(delivery: Delivery, hasWaited: boolean): void {
    const finished = handleAndSettle(delivery, hasWaited)
      // A delivery whose acknowledgement failed comes again when its lease lapses, and is then acknowledged without
      // being handled again.
      .catch((error) => report(error, delivery))
      .finally(() => {
        const { redelivered } = running.get(delivery.id)!
        running.delete(delivery.id)
        if (redelivered) run(redelivered, true)
        else startWaiting()
        onFreed()
      })
    running.set(delivery.id, { delivery, since: performance.now(), finished, redelivered: null })
  }

  function start(delivery: Delivery): void {
    const earlier = running.get(delivery.id)
    if (earlier) earlier.redelivered = delivery
    else run(delivery, false)
  }

  function startWaiting(): void {
    const [next] = waiting.values()
    if (!next || isStopping()) return
    waiting.delete(next.delivery.id)
    run(next.delivery, true)
  }

  /** Extends the leases of deliveries that have been in hand for a third of one. */
  async function extendOld(): Promise<void> {
    const before = performance.now() - (leaseSeconds * 1000) / 3
    const old = [...running.values(), ...waiting.values()]
      .filter(({ since }) => since <= before)
      .map(({ delivery }) => delivery.id)
    for (let from = 0; from < old.length; from += MAX_EXTENDED)
      await deliveries.extend(old.slice(from, from + MAX_EXTENDED), leaseSeconds)
  }

  const heartbeat = setInterval(() => void extendOld().catch(report), (leaseSeconds * 1000) / 3)

  return {
    start,
    startInTurn(delivery) {
      if (running.has(delivery.id) || (running.size < concurrency && !isStopping())) start(delivery)
      else waiting.set(delivery.id, { delivery, since: performance.now() })
    },
    forgetWaiting: () => waiting.clear(),
    async freeCapacity() {
      while (running.size >= concurrency) await new Promise<void>((resolve) => (onFreed = resolve))
      return concurrency - running.size
    },
    async finish() {
      while (running.size > 0) await Promise.all([...running.values()].map(({ finished }) => finished))
    },
    close: () => clearInterval(heartbeat),
  }
}
