// Where a worker gets its deliveries from: long polls, or a stream.
import type { Delivery } from './contract.ts'
import type { DeliveryCalls } from './deliveries.ts'
import { ConnectionError, SensoriumError } from './errors.ts'
import { addressOf, failureOf, type Connection } from './request.ts'
import { readStream } from './stream.ts'
import type { Tokens } from './tokens.ts'
import { backoff, sleep } from './wait.ts'

const LONGEST_POLL_S = 20
const MOST_POLLED = 100

export interface SourceParts {
  deliveries: DeliveryCalls
  connection: Connection
  tokens: Tokens
  concurrency: number
  /** Handles a delivery; returns at once. */
  start(delivery: Delivery): void
  /** Resolves with the number of free places as soon as there is one. */
  room(): Promise<number>
  report(error: unknown): void
}

export interface Source {
  /** Starts nothing new from now on. */
  pause(): void
  close(): Promise<void>
  /** Rejects when it cannot go on. */
  readonly ended: Promise<void>
}

/** The service will not let this client go on, however often it asks. */
const isFinal = (error: unknown): boolean =>
  error instanceof SensoriumError && [400, 401, 403, 404].includes(error.status)

/** Does one round after the other, with growing rests while they fail. */
async function repeat(
  round: () => Promise<void>,
  report: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      await round()
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      if (isFinal(error)) throw error
      report(error)
      const retryAfter = error instanceof SensoriumError ? error.retryAfter : null
      await sleep(backoff(failures++, retryAfter), signal).catch(() => {})
    }
  }
}

export function pollSource({ deliveries: calls, start, room, report }: SourceParts): Source {
  const closing = new AbortController()
  const { signal } = closing
  const ended = repeat(
    async () => {
      const limit = Math.min(MOST_POLLED, await room())
      if (signal.aborted) return
      const { deliveries } = await calls.poll({ limit, wait: LONGEST_POLL_S }, { signal })
      for (const delivery of deliveries) start(delivery)
    },
    report,
    signal,
  )
  return {
    // The service takes back what it has not sent yet; what is on its way comes again when its lease lapses.
    pause: () => closing.abort(new Error('the worker was stopped')),
    close: () => ended.catch(() => {}),
    ended,
  }
}

export function streamSource({ connection, tokens, concurrency, start, report }: SourceParts): Source {
  const closing = new AbortController()
  const { signal } = closing
  let paused = false
  let refused = false
  const address = addressOf(connection.url, 'streamDeliveries', {
    query: { max_in_flight: Math.min(MOST_POLLED, concurrency) },
  })

  async function round(): Promise<void> {
    const token = await tokens.get()
    let response: Response
    try {
      response = await connection.fetch(address, {
        headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
        redirect: 'manual',
        signal,
      })
    } catch (error) {
      throw new ConnectionError('the stream could not be opened', { cause: error })
    }
    if (!response.ok) {
      const failure = failureOf(response, await response.json().catch(() => undefined))
      // Once: a token may have ended while the stream was open.
      if (failure.status === 401 && !refused && tokens.refused(token)) {
        refused = true
        return
      }
      throw failure
    }
    refused = false
    for await (const delivery of readStream(response.body!)) {
      // What is not started goes back to the mailbox when the stream is closed.
      if (!paused) start(delivery)
    }
    // The service ends a stream when it drains or when the key is revoked; the next one says which.
    if (!signal.aborted) await sleep(backoff(0, null), signal).catch(() => {})
  }

  const ended = repeat(round, report, signal)
  return {
    pause: () => (paused = true),
    async close() {
      closing.abort(new Error('the worker was stopped'))
      await ended.catch(() => {})
    },
    ended,
  }
}
