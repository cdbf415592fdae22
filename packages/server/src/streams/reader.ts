// The reader of a stream, at the other end of a connection: whether it keeps up, and the comments that keep the
// connection open.
import type { Clock } from '../kernel/clock.ts'

/** The part of the connection that a stream needs. */
export interface Sink {
  /** False if the reader is behind: nothing long is written until `drained` is called, when it has caught up. */
  write(text: string): boolean
  end(text: string): void
  destroy(): void
}

/** What the connection tells a stream. */
export interface OpenedStream {
  /** Called when the reader has taken a part of what was written. */
  progressed(): void
  /** Called when the reader has caught up. */
  drained(): void
  /** Called when the reader is gone. */
  gone(): void
}

const COMMENT_EVERY_MS = 15_000

export type Reader = ReturnType<typeof makeReader>

export function makeReader(sink: Sink, clock: Clock) {
  let behindSince: number | null = null
  let commentAt = clock.elapsed() + COMMENT_EVERY_MS

  function write(text: string): void {
    if (!sink.write(text)) behindSince ??= clock.elapsed()
  }

  return {
    write,
    isBehind: (): boolean => behindSince !== null,
    /** For how long the reader has taken nothing; zero while it keeps up. */
    stuckMs: (elapsed: number): number => (behindSince === null ? 0 : elapsed - behindSince),
    /** The reader has taken a part of what was written. */
    progressed(): void {
      if (behindSince !== null) behindSince = clock.elapsed()
    },
    /** The reader has caught up. */
    drained(): void {
      behindSince = null
    },
    /** Writes a comment if it is time for one. */
    keepOpen(elapsed: number): void {
      if (elapsed < commentAt) return
      commentAt = elapsed + COMMENT_EVERY_MS
      if (behindSince === null) write(': still here\n\n')
    },
    /** Ends the stream, with a last text if the reader is still there. */
    end(last?: string): void {
      if (last === undefined) sink.destroy()
      else sink.end(last)
    },
  }
}

/** Spread over some seconds, so that the clients do not all connect to the next node at the same moment. */
export const reconnectHint = (): string => `retry: ${1_000 + Math.floor(Math.random() * 4_000)}\n\n`
