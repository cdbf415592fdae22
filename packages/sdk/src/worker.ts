// A worker: takes deliveries out of the mailbox, runs the handler, and reports the outcome of each to the service.
//
// 1. A delivery is acknowledged after its handler has resolved, never before.
// 2. The lease of a slow handler is extended for as long as it runs, and that of a delivery for as long as it waits.
// 3. A delivery that arrives again while its handler runs is not handled twice at once, and an event that was already
//    handled is acknowledged without being handled again. Both hold within this process only; handlers must still be
//    idempotent by event id.
// 4. A worker that stops starts no new handlers, waits for the running ones, and gives back deliveries it could not
//    finish. If the service is away, this ends a second after the grace period.
import type { DeliveredEvent, Delivery } from './contract.ts'
import type { DeliveryCalls } from './deliveries.ts'
import { DeadLetter, RetryAfter } from './errors.ts'
import type { EventDefaults } from './events.ts'
import { makeGathered } from './gathered.ts'
import type { Handler } from './given.ts'
import { makeInHand, type Settle } from './in-hand.ts'
import { makeRecentIds } from './recent-ids.ts'
import type { Connection } from './request.ts'
import { pollSource, streamSource } from './sources.ts'
import type { Tokens } from './tokens.ts'
import { LONGEST_MS, orAborted } from './wait.ts'

const DEFAULT_CONCURRENCY = 8
const REMEMBERED = 10_000
const MAX_REASON = 1_000
const MAX_WAIT_S = 86_400
/** How long after the grace period of a stop its last calls may take: long enough to give back what is unfinished. */
const LAST_CALLS_MS = 1_000
/**
 * How many seconds an event rests after a handler threw, by attempt; the last is repeated. Without a rest, all attempts
 * of an event would be used up within a second, before anything that the handler depends on could recover.
 */
const REST_S = [1, 5, 30, 120]

/** The part of a client that a worker needs. `with` makes the clients of the same type that handlers get. */
export interface WorkerClient<Client> {
  deliveries: DeliveryCalls
  with(more: EventDefaults): Client
}

export interface WorkOf<Client, D> {
  /** The event: type, source, subject, data and any other attributes, with what the service adds to it. */
  event: DeliveredEvent & { data: D }
  delivery: Delivery
  /** A client whose events name this event as their cause and continue its trace. */
  client: Client
  /** Aborted when the worker is stopping and its grace period has ended. */
  signal: AbortSignal
}

export interface WorkerOptionsOf<Client, D> {
  /**
   * Handles one delivery, which is acknowledged once this returns or resolves. If it throws, the delivery is given back
   * with the reason and comes again after 1, 5, 30, then 120 seconds; `RetryAfter` and `DeadLetter` decide otherwise.
   */
  handle(work: WorkOf<Client, D>): unknown
  /** How many handlers run at once; 8 by default. */
  concurrency?: number | undefined
  /** `poll`, the default, uses long polls; `sse` keeps one stream open, which has the lower latency. */
  mode?: 'poll' | 'sse' | undefined
  /**
   * The visibility timeout of the service. The lease of a handler that takes longer than a third of it is extended by
   * it. An extension is an hour at most, so longer leases are extended every 20 minutes. If it is left out, the first
   * extension comes within 0.7 seconds, whatever the timeout is, and each is of 30 seconds.
   */
  leaseSeconds?: number | undefined
  /**
   * Called with the errors that the worker meets: a handler that threw anything but `RetryAfter` and `DeadLetter`, a
   * service that is unreachable, a handled delivery that can no longer be acknowledged. By default they are written to
   * the console.
   */
  onError?: Handler<[error: unknown, delivery?: Delivery]> | undefined
  /** Aborting it stops the worker. */
  signal?: AbortSignal | undefined
}

export interface Worker {
  /**
   * Starts no new handlers, and resolves when the running ones have finished and their deliveries are acknowledged.
   * After `graceMs` the handlers' signal is aborted and the unfinished deliveries are given back; without it, or if it
   * is longer than 23 days, they are waited for. A second call may set `graceMs` when the first did not. A second after
   * `graceMs`, calls that the service has not responded to are given up; the deliveries come again when their leases
   * lapse.
   */
  stop(graceMs?: number): Promise<void>
  /** Resolves once the worker has stopped. Rejects when it cannot go on: its key was revoked, or lacks the scope. */
  readonly stopped: Promise<void>
}

export function startWorker<Client extends WorkerClient<Client>, D>(
  client: Client,
  connection: Connection,
  tokens: Tokens,
  options: WorkerOptionsOf<Client, D>,
): Worker {
  const { deliveries } = client
  const { handle, concurrency = DEFAULT_CONCURRENCY, leaseSeconds } = options
  if (typeof handle !== 'function') throw new TypeError('handle takes a function')
  for (const [name, number] of Object.entries({
    concurrency,
    leaseSeconds: leaseSeconds === undefined ? 1 : leaseSeconds,
  }))
    if (!Number.isInteger(number) || number < 1) throw new RangeError(`${name} takes a whole number from 1 on`)
  /** If `onError` throws or rejects, which must not stop a worker, the console gets both errors. */
  const report = (error: unknown, delivery?: Delivery): void =>
    void (async () => (options.onError ?? tellConsole)(error, delivery))().catch((thrown: unknown) => {
      tellConsole(error, delivery)
      tellConsole(thrown, delivery)
    })
  const handled = makeRecentIds(REMEMBERED)
  const acknowledge = makeGathered(async (ids) => {
    const missed = ids.length - (await deliveries.ack(ids, { signal: inHand.closed }))
    // Another worker had acknowledged them, or they became dead letters when their leases ended. Without a report,
    // nobody would learn why an event that was handled is among the dead letters.
    if (missed > 0) report(new Error(`${missed} of ${ids.length} handled deliveries were settled before`))
  })
  const isStream = options.mode === 'sse'
  // Stopping is no failure of the handler, so another worker may take the delivery at once. A stream, which is open
  // until everything is given back, would bring it once more at the price of an attempt.
  const unfinished = new RetryAfter(isStream ? 1 : 0, 'the worker was stopped')
  const outOfTime = new AbortController()
  let stopping: Promise<void> | null = null

  async function handleDelivery(delivery: Delivery): Promise<Settle> {
    const event = delivery.payload as DeliveredEvent & { data: D }
    if (!handled.has(delivery.event_id)) {
      const trace = typeof event['traceparent'] === 'string' ? { traceparent: event['traceparent'] } : {}
      const work = {
        event,
        delivery,
        client: client.with({ causationid: delivery.event_id, ...trace }),
        signal: outOfTime.signal,
      }
      try {
        if (stopping) throw unfinished
        // A handler that ignores its signal must not hold up a worker that is out of time.
        await orAborted(handle(work), outOfTime.signal)
      } catch (error) {
        // What a handler decides is no failure of it.
        if (!(error instanceof RetryAfter || error instanceof DeadLetter)) report(error, delivery)
        return () => giveBack(deliveries, delivery, error, inHand.closed)
      }
      handled.add(delivery.event_id)
    }
    return () => acknowledge(delivery.id)
  }

  const isStopping = (): boolean => stopping !== null
  const inHand = makeInHand({ deliveries, concurrency, leaseSeconds, handle: handleDelivery, isStopping, report })
  const closing = new AbortController()
  const parts = { inHand, report, signal: closing.signal }
  const ended = isStream
    ? streamSource({ ...parts, connection, tokens, concurrency })
    : pollSource({ ...parts, deliveries })

  /** Begins the stop, once. A later call of `stop` can only shorten the wait. */
  const begin = (): Promise<void> =>
    (stopping ??= (async () => {
      // A stream stays open, because its end would also give back what has just been begun.
      if (!isStream) closing.abort(unfinished)
      await inHand.finish()
      closing.abort(unfinished)
      await ended.catch(() => {})
      // A poll may have brought something in while it was being closed.
      await inHand.finish()
      inHand.close()
      options.signal?.removeEventListener('abort', begin)
    })())

  async function stop(graceMs?: number): Promise<void> {
    const isLimited = graceMs !== undefined && graceMs <= LONGEST_MS
    if (!isLimited) return begin()
    const timers = [
      setTimeout(() => outOfTime.abort(unfinished), graceMs),
      setTimeout(inHand.close, graceMs + LAST_CALLS_MS),
    ]
    await begin().finally(() => timers.forEach(clearTimeout))
  }

  if (options.signal?.aborted) void begin()
  options.signal?.addEventListener('abort', begin, { once: true })
  const stopped = ended.finally(begin)
  // A caller that does not await `stopped` learns of the failure from `onError`.
  stopped.catch((error: unknown) => report(error))
  return { stop, stopped }
}

function tellConsole(error: unknown, delivery?: Delivery): void {
  console.error(`worker${delivery ? ` (event ${delivery.event_id})` : ''}: ${String(error)}`)
}

/** Returns how long the delivery rests: as long as the handler asked for, or longer with every attempt that failed. */
const restOf = (error: unknown, { attempt_count }: Delivery): number =>
  error instanceof RetryAfter
    ? Math.min(MAX_WAIT_S, Math.max(0, Math.ceil(error.seconds) || 0))
    : REST_S[Math.min(attempt_count, REST_S.length) - 1]!

/**
 * Gives a delivery back with values that the service accepts: whole seconds, a day at most, and a reason without NUL,
 * the one character that no store keeps.
 */
async function giveBack(
  deliveries: DeliveryCalls,
  delivery: Delivery,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const said = (error instanceof Error ? error.message : String(error)).replaceAll('\0', '')
  const reason = said.slice(0, MAX_REASON) || 'the handler failed'
  const rest = error instanceof DeadLetter ? { dead_letter: true } : { retry_after_seconds: restOf(error, delivery) }
  await deliveries.nack([delivery.id], { reason, ...rest }, { signal })
}
