// The sources of a worker's deliveries: long polls, or a stream.
import type { Delivery } from './contract.ts'
import type { DeliveryCalls } from './deliveries.ts'
import type { InHand } from './in-hand.ts'
import { restAfter, type Connection } from './request.ts'
import { openStream, readStream } from './stream.ts'
import type { Tokens } from './tokens.ts'
import { orAborted, rest } from './wait.ts'

const MAX_POLL_S = 20
const MAX_POLLED = 100

export interface SourceParts {
  inHand: InHand
  report(error: unknown): void
  /** Closes the source. */
  signal: AbortSignal
}

export interface PollParts extends SourceParts {
  deliveries: DeliveryCalls
}

export interface StreamParts extends SourceParts {
  connection: Connection
  tokens: Tokens
  concurrency: number
}

/** Runs one round after another, with growing pauses while they fail. */
async function repeat(
  round: () => Promise<void>,
  report: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  let last: unknown = null
  for (let failures = 0; !signal.aborted; ) {
    try {
      await round()
      failures = 0
      last = null
    } catch (error) {
      await restAfter(error, failures++, report, signal, last)
      last = error
    }
  }
}

/**
 * Resolves when the source has closed; rejects when it cannot go on. The service takes back deliveries that it has not
 * sent yet. Those on their way come again when the lease lapses.
 */
export const pollSource = ({ deliveries: calls, inHand, report, signal }: PollParts): Promise<void> =>
  repeat(
    async () => {
      const limit = Math.min(MAX_POLLED, await inHand.freeCapacity())
      if (signal.aborted) return
      const { deliveries } = await calls.poll({ limit, wait: MAX_POLL_S }, { signal })
      for (const delivery of deliveries) inHand.start(delivery)
    },
    report,
    signal,
  )

/** Resolves when the source has closed, which gives back what has just been begun; rejects when it cannot go on. */
export function streamSource(parts: StreamParts): Promise<void> {
  const { connection, tokens, concurrency, inHand, report, signal } = parts
  const query = { max_in_flight: Math.min(MAX_POLLED, concurrency) }

  async function round(): Promise<void> {
    try {
      // Or every stream that is cut would leave as many behind it, whose leases are extended and kept.
      await orAborted(inHand.needsStream(), signal)
      const body = await openStream(connection, tokens, 'streamDeliveries', query, signal)
      for await (const { event, data } of readStream(body)) {
        // The service counts deliveries in flight per stream, and handlers of the previous stream may still run.
        if (event === 'delivery') inHand.startInTurn(connection.parse(data) as Delivery)
      }
    } finally {
      // The service gives back what it sent on this stream and was not extended, so what was not started comes again.
      inHand.forgetWaiting()
    }
    // The service ends a stream when it drains or when the key is revoked. Opening the next stream shows which.
    await rest(0, 0, signal)
  }

  return repeat(round, report, signal)
}
