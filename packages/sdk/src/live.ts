// Watching a tenant: events as they are accepted, and counts once a second. For an org-admin.
import type { EventSummary, LiveStats, Operations } from './contract.ts'
import type { Handler } from './given.ts'
import { isRetryable, restAfter, type Connection } from './request.ts'
import { openStream, readStream } from './stream.ts'
import type { Tokens } from './tokens.ts'
import { rest } from './wait.ts'

export type LiveMessage = { kind: 'event'; event: EventSummary } | { kind: 'stats'; stats: LiveStats }

export interface LiveOptions {
  /** Ends the sequence. */
  signal?: AbortSignal | undefined
  /** Called with the reason when a stream breaks off or cannot be opened. The client then opens it again. */
  onError?: Handler<[error: unknown]> | undefined
}

export type Live = (
  query?: Operations['streamLive']['query'],
  options?: LiveOptions,
) => AsyncGenerator<LiveMessage, void, undefined>

/**
 * Continues until the signal is aborted, and throws when the service refuses the stream for good, or whoever is at this
 * address refuses the first one. Events between two streams are missed.
 */
export const makeLive = (connection: Connection, tokens: Tokens): Live =>
  async function* live(query = {}, { signal, onError } = {}) {
    let wasOpen = false
    for (let failures = 0; !signal?.aborted; ) {
      try {
        const body = await openStream(connection, tokens, 'streamLive', query, signal)
        wasOpen = true
        for await (const { event, data } of readStream(body)) {
          failures = 0
          if (event === 'event' || event === 'stats')
            yield { kind: event, [event]: connection.parse(data) } as unknown as LiveMessage
        }
      } catch (error) {
        // Without `onError`, nobody would learn of an address that is wrong.
        if (!wasOpen && !signal?.aborted && !isRetryable(error)) throw error
        await restAfter(error, failures++, onError, signal)
        continue
      }
      await rest(failures, 0, signal)
    }
  }
