// The way out for the answers of one request. The library writes each message as one text, in one turn of the event
// loop, and puts it into a queue without a limit: ten megabytes of an answer took 60 ms. So a long result is written
// beforehand, in steps. The library gets a short text in its place, and the result goes out where that text stands.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { Exchange } from '../http/exchange.ts'
import { nextTurn } from '../kernel/step-turns.ts'

export interface Outlet {
  /** Holds a result until the client takes it. Returns what the library sends in its place. */
  hold(result: readonly Buffer[]): Record<string, string>
  /** Resolves when the client has taken the next message, or has left. */
  taken(): Promise<void>
}

interface HttpOutlet extends Outlet {
  /** Writes the response as fast as the client takes it. */
  write(exchange: Exchange, response: Response): Promise<void>
  /** The request is over: nobody waits for the client any longer. */
  close(): void
}

/** Begins a comment, with which the library keeps a connection alive. Each other chunk is one message. */
const COLON = 0x3a

interface Held {
  marker: Buffer
  result: readonly Buffer[]
}

/** Yields a chunk of the response, with the held result where its marker stands. */
function* restored(chunk: Uint8Array, held: Held | null): Generator<Uint8Array, void> {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const at = held === null ? -1 : bytes.indexOf(held.marker)
  if (held === null || at === -1) return yield bytes
  yield bytes.subarray(0, at)
  yield* held.result
  yield bytes.subarray(at + held.marker.length)
}

export function makeOutlet(): HttpOutlet {
  /** One at most: the next message of a request is handled when the client has taken the one before. */
  let held: Held | null = null
  let waiting: (() => void)[] = []
  let isClosed = false

  function wake(): void {
    const woken = waiting
    waiting = []
    for (const resolve of woken) resolve()
  }

  async function* chunksAsTaken(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      for (const part of restored(chunk, held)) {
        yield part
        // A client as fast as this process takes each part at once, and no turn of the event loop would pass.
        await nextTurn()
      }
      if (chunk[0] === COLON) continue
      held = null
      wake()
    }
  }

  return {
    hold(result) {
      // Nobody can guess it, so no event contains it.
      const standIn = { held: randomUUID() }
      held = { marker: Buffer.from(JSON.stringify(standIn)), result }
      return standIn
    },
    taken: () => (isClosed ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
    async write(exchange, response) {
      const sent = exchange.open(response.status, Object.fromEntries(response.headers))
      if (response.body === null) return void sent.end()
      // As objects, because chunks of bytes would be joined, and one by one: what is read ahead is memory.
      const chunks = Readable.fromWeb(response.body as ReadableStream, { objectMode: true, highWaterMark: 1 })
      await pipeline(chunks, chunksAsTaken, sent)
    },
    close() {
      isClosed = true
      held = null
      wake()
    },
  }
}
