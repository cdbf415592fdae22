// The order of work in an embedding thread. Queries go before the texts of memories, and wait for one window of a text
// at most, which is cut off its text or run through the model. Short texts go before long ones, window by window: the
// sixty windows of a text of 64,000 characters take seconds.
//
// Each window goes through the model alone. The model's 8-bit weights are multiplied with numbers whose scale is taken
// from the whole batch, so the other texts of a batch would change the vector of a text a little: similarities moved by
// up to 0.03, and with them the order.
import { nextTurn } from '../../kernel/step-turns.ts'
import type { EmbeddedWindow } from './embedder.ts'
import type { Model } from './model.ts'
import type { Windowed } from './windows.ts'

export interface EmbedRequest {
  kind: 'texts' | 'query'
  texts: readonly string[]
}

type Asked = { id: number } & EmbedRequest
export type Told = { id: number; response: EmbeddedWindow[][] } | { id: number; error: string }

interface Job {
  id: number
  embedded: EmbeddedWindow[][]
  left: number
}

/** A text whose windows are being cut off. */
interface Uncut {
  job: Job
  text: number
  length: number
  /** How many of its windows are cut off. */
  parts: number
  windows: Iterator<Windowed, void>
}

interface Piece {
  job: Job
  text: number
  part: number
  /** Of the whole text. */
  length: number
  window: Windowed
}

interface WorkQueue {
  add(asked: Asked): void
  /** Forgets what has not begun, and resolves when nothing is computed any more. */
  close(): Promise<void>
}

export function makeWorkQueue({ windows, run }: Model, tell: (told: Told) => void): WorkQueue {
  const queries: Asked[] = []
  let uncut: Uncut[] = []
  let pieces: Piece[] = []
  let busy = false

  async function respondToQuery({ id, texts: [text] }: Asked): Promise<void> {
    try {
      // One window: what a query says beyond its first 254 tokens adds nothing to what it asks.
      const window = windows(text!).next().value!
      const [embedded] = await run([window])
      tell({ id, response: [[{ ...embedded!, words: window.words }]] })
    } catch (error) {
      tell({ id, error: (error as Error).message })
    }
  }

  function fail(job: Job, error: unknown): void {
    uncut = uncut.filter((text) => text.job !== job)
    pieces = pieces.filter((piece) => piece.job !== job)
    tell({ id: job.id, error: (error as Error).message })
  }

  function cutWindow(from: Uncut): void {
    const { job, text, length } = from
    try {
      const { value: window } = from.windows.next()
      if (window) {
        pieces.push({ job, text, part: from.parts++, length, window })
        job.left++
        return
      }
      uncut.shift()
      pieces.sort((a, b) => a.length - b.length)
    } catch (error) {
      fail(job, error)
    }
  }

  async function embedPiece({ job, text, part, window }: Piece): Promise<void> {
    try {
      job.embedded[text]![part] = (await run([window]))[0]!
      if (--job.left === 0) tell({ id: job.id, response: job.embedded })
    } catch (error) {
      fail(job, error)
    }
  }

  /** All texts are cut before a window of any is run, so a job has all its pieces by then. */
  async function step(): Promise<void> {
    const query = queries.shift()
    if (query) await respondToQuery(query)
    else if (uncut.length > 0) cutWindow(uncut[0]!)
    else await embedPiece(pieces.shift()!)
  }

  async function work(): Promise<void> {
    if (busy) return
    busy = true
    while (queries.length > 0 || uncut.length > 0 || pieces.length > 0) {
      await step()
      // Lets messages arrive: a query that came meanwhile goes next.
      await nextTurn()
    }
    busy = false
  }

  function addTexts({ id, texts }: Asked): void {
    const job: Job = { id, embedded: texts.map(() => []), left: 0 }
    const added = texts.map((text, i) => ({ job, text: i, length: text.length, parts: 0, windows: windows(text) }))
    uncut = [...uncut, ...added].sort((a, b) => a.length - b.length)
  }

  return {
    add(asked) {
      if (asked.kind === 'query') queries.push(asked)
      else addTexts(asked)
      void work()
    },
    async close() {
      queries.length = 0
      uncut = []
      pieces = []
      while (busy) await nextTurn()
    },
  }
}
