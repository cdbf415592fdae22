// Watching a tenant: events as they are accepted, and counts once a second. For an org-admin.
import type { EventSummary, LiveStats, Operations } from './contract.ts'
import { SensoriumError } from './errors.ts'
import { isFinal, type Connection } from './request.ts'
import { openStream, readStream } from './stream.ts'
import type { Tokens } from './tokens.ts'
import { backoff, sleep } from './wait.ts'

export type LiveMessage = { kind: 'event'; event: EventSummary } | { kind: 'stats'; stats: LiveStats }

export interface LiveOptions {
  /** Ends the sequence. */
  signal?: AbortSignal
  /** Told why a stream broke off or could not be opened; it is opened again by itself. */
  onError?(error: unknown): void
}

export type Live = (
  query?: Operations['streamLive']['query'],
  options?: LiveOptions,
) => AsyncGenerator<LiveMessage, void, undefined>

/**
 * Goes on until the signal is aborted or the service will not have it any more. What happens between two streams is
 * missed.
 */
export const makeLive = (connection: Connection, tokens: Tokens): Live =>
  async function* live(query = {}, { signal, onError } = {}) {
    for (let failures = 0; !signal?.aborted; ) {
      try {
        for await (const { event, data } of readStream(
          await openStream(connection, tokens, 'streamLive', query, signal),
        )) {
          failures = 0
          if (event === 'event') yield { kind: 'event', event: JSON.parse(data) as EventSummary }
          if (event === 'stats') yield { kind: 'stats', stats: JSON.parse(data) as LiveStats }
        }
      } catch (error) {
        if (signal?.aborted) return
        if (isFinal(error)) throw error
        onError?.(error)
        const retryAfter = error instanceof SensoriumError ? error.retryAfter : null
        await sleep(backoff(failures++, retryAfter), signal).catch(() => {})
        continue
      }
      await sleep(backoff(failures, null), signal).catch(() => {})
    }
  }
