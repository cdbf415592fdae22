// The deliveries that a worker has in hand: those that are being handled, and those of a stream that wait to be.
//
// 1. At most `concurrency` are handled at once, and none twice at once.
// 2. Their leases are extended for as long as they are in hand.
import type { Delivery } from './contract.ts'
import type { DeliveryCalls } from './deliveries.ts'
import { makeGathered } from './gathered.ts'

const MAX_EXTENDED = 100
/** The most that the service extends a lease by. The visibility timeout, and so the first lease, may be longer. */
const MAX_EXTENSION_S = 3_600
/** What leases are extended by, unless the caller sets it. */
const DEFAULT_EXTENSION_S = 30
/** The shortest visibility timeout that a service can have. */
const SHORTEST_LEASE_S = 1

interface Held {
  delivery: Delivery
  since: number
  /** Whether this worker has extended the lease, so that its length is known. */
  isExtended: boolean
}

interface Running extends Held {
  finished: Promise<void>
  /** The delivery as it arrived again meanwhile: its lease had lapsed, or its acknowledgement was lost. */
  redelivered: Delivery | null
}

/** Acknowledges a delivery, or gives it back. */
export type Settle = () => Promise<unknown>

export interface InHandParts {
  deliveries: DeliveryCalls
  concurrency: number
  /** The visibility timeout of the service, if the caller knows it. */
  leaseSeconds: number | undefined
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
  /**
   * Called when a stream has ended. Forgets the deliveries that wait for their turn and that the service gives back:
   * those whose leases were not extended. Of a worker that is stopping, the others are given back.
   */
  forgetWaiting(): void
  /**
   * Resolves as soon as what a new stream brings is needed: a handler is free, and so nothing waits for its turn, or
   * has a delivery that was given back with the stream before. Never while the worker is stopping.
   */
  needsStream(): Promise<void>
  /** Resolves to the number of handlers that may start, as soon as there is one. */
  freeCapacity(): Promise<number>
  /** Resolves when nothing is being handled. */
  finish(): Promise<void>
  /** Stops extending leases, and aborts `closed`. */
  close(): void
  /** Ends calls under way, which could outlive the worker. */
  readonly closed: AbortSignal
}

export function makeInHand(parts: InHandParts): InHand {
  const { deliveries, concurrency, handle, isStopping, report } = parts
  const leaseSeconds = Math.min(parts.leaseSeconds ?? DEFAULT_EXTENSION_S, MAX_EXTENSION_S)
  const running = new Map<string, Running>()
  const waiting = new Map<string, Held>()
  const closing = new AbortController()
  const closed = closing.signal
  const extend = (ids: string[]): Promise<number> => deliveries.extend(ids, leaseSeconds, { signal: closed })
  const notExtended = (error: unknown): void => void (closed.aborted || report(error))
  const extendSoon = makeGathered((ids) => extend(ids).catch(notExtended))
  let onFreed = (): void => {}
  const freed = (): Promise<void> => new Promise((resolve) => (onFreed = resolve))

  async function handleAndSettle(delivery: Delivery, hasWaited: boolean): Promise<void> {
    // If the lease was lost meanwhile, the delivery is settled, or comes again, or somebody else has it.
    if (hasWaited && (await extend([delivery.id])) === 0) return
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
    running.set(delivery.id, { delivery, since: performance.now(), isExtended: hasWaited, finished, redelivered: null })
  }

  function start(delivery: Delivery): void {
    const earlier = running.get(delivery.id)
    if (!earlier) return run(delivery, false)
    earlier.redelivered = delivery
    // Soon: the stream that brought it may be cut like the one before, and each cut would cost an attempt.
    earlier.isExtended = true
    void extendSoon(delivery.id)
  }

  function startWaiting(): void {
    const [next] = waiting.values()
    if (!next || isStopping()) return
    waiting.delete(next.delivery.id)
    run(next.delivery, true)
  }

  /** Extends leases that have been in hand for a third of `seconds`; with `isFirst`, those not extended before. */
  async function extendOld(seconds: number, isFirst: boolean): Promise<void> {
    const before = performance.now() - (seconds * 1000) / 3
    const old = [...running.values(), ...waiting.values()].filter(
      ({ since, isExtended }) => since <= before && !(isFirst && isExtended),
    )
    for (const held of old) held.isExtended = true
    while (old.length > 0) await extend(old.splice(0, MAX_EXTENDED).map(({ delivery }) => delivery.id))
  }

  const everyThirdOf = (seconds: number, isFirst = false): ReturnType<typeof setInterval> =>
    setInterval(() => void extendOld(seconds, isFirst).catch(notExtended), (seconds * 1000) / 3)
  const timers = [everyThirdOf(leaseSeconds)]
  // No response tells how long the first lease is, and the operator may change it at any time. So it is taken for the
  // shortest one, at the price of a call for handlers that take longer than a third of a second.
  if (parts.leaseSeconds === undefined) timers.push(everyThirdOf(SHORTEST_LEASE_S, true))

  return {
    start,
    startInTurn(delivery) {
      if (running.has(delivery.id) || (running.size < concurrency && !isStopping())) start(delivery)
      else waiting.set(delivery.id, { delivery, since: performance.now(), isExtended: false })
    },
    forgetWaiting() {
      for (const [id, { delivery, isExtended }] of waiting) {
        if (isExtended && !isStopping()) continue
        waiting.delete(id)
        if (isExtended) run(delivery, true)
      }
    },
    async needsStream() {
      const isFull = (): boolean => [...running.values()].filter(({ isExtended }) => isExtended).length >= concurrency
      while (isStopping() || isFull()) await freed()
    },
    async freeCapacity() {
      while (running.size >= concurrency) await freed()
      return concurrency - running.size
    },
    async finish() {
      while (running.size > 0) await Promise.all([...running.values()].map(({ finished }) => finished))
    },
    close() {
      for (const timer of timers) clearInterval(timer)
      closing.abort(new Error('the worker was stopped before the service responded'))
    },
    closed,
  }
}
