// An embedding thread. Queries go before the texts of memories, and wait for one window of a text at most.
//
// Each window goes through the model alone. The model's 8-bit weights are multiplied with numbers whose scale is taken
// from the whole batch, so the other texts of a batch would change the vector of a text a little: similarities moved by
// up to 0.03, and with them the order.
import { readlinkSync } from 'node:fs'
import os from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { Embedded } from './embedding.ts'
import { loadModel, type Model, type Windowed } from './model.ts'

export interface EmbedRequest {
  kind: 'texts' | 'query'
  texts: readonly string[]
}

type Asked = { id: number } & EmbedRequest
type Told = { id: number; response: Embedded[][] } | { id: number; error: string }

/** Events come first when the processors are busy. Threads that the runtime starts inherit the priority. */
const NICE = 3

const port = parentPort!

try {
  // Linux has a priority for each thread. Elsewhere this thread keeps the priority of the others.
  const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  os.setPriority(thread, NICE)
} catch {
  // not Linux, or not allowed
}

interface Piece {
  job: Job
  text: number
  part: number
  window: Windowed
}

interface Job {
  id: number
  embedded: Embedded[][]
  left: number
}

const queries: Asked[] = []
let pieces: Piece[] = []
let busy = false
let model: Promise<Model> | undefined

const ready = (): Promise<Model> => (model ??= loadModel())

function tell(told: Told): void {
  const buffers =
    'response' in told
      ? told.response.flat().flatMap(({ vector, tokens }) => [vector.buffer, tokens.buffer] as ArrayBuffer[])
      : []
  port.postMessage(told, buffers)
}

async function add(asked: Asked): Promise<void> {
  try {
    const { windows } = await ready()
    const job: Job = { id: asked.id, embedded: asked.texts.map(() => []), left: 0 }
    const added = asked.texts.flatMap((text, i) =>
      windows(text).map((window, part): Piece => ({ job, text: i, part, window })),
    )
    job.left = added.length
    // Short windows do not wait for long ones.
    pieces = [...pieces, ...added].sort((a, b) => a.window.ids.length - b.window.ids.length)
  } catch (error) {
    tell({ id: asked.id, error: (error as Error).message })
  }
}

async function respondToQuery({ id, texts: [text] }: Asked): Promise<void> {
  try {
    const { windows, run } = await ready()
    // One window: what a query says beyond its first 254 tokens adds nothing to what it asks.
    const window = windows(text!)[0]!
    const [embedded] = await run([window])
    tell({ id, response: [[{ ...embedded!, words: window.words }]] })
  } catch (error) {
    tell({ id, error: (error as Error).message })
  }
}

async function embedPiece({ job, text, part, window }: Piece): Promise<void> {
  try {
    const { run } = await ready()
    job.embedded[text]![part] = (await run([window]))[0]!
    if (--job.left === 0) tell({ id: job.id, response: job.embedded })
  } catch (error) {
    pieces = pieces.filter((piece) => piece.job !== job)
    tell({ id: job.id, error: (error as Error).message })
  }
}

async function work(): Promise<void> {
  if (busy) return
  busy = true
  while (queries.length > 0 || pieces.length > 0) {
    const query = queries.shift()
    await (query ? respondToQuery(query) : embedPiece(pieces.shift()!))
    // Lets messages arrive: a query that came meanwhile goes next.
    await new Promise(setImmediate)
  }
  busy = false
}

async function close(): Promise<void> {
  queries.length = 0
  pieces = []
  await model?.catch(() => {})
  while (busy) await new Promise(setImmediate)
  port.close()
}

port.on('message', async (message: { id: number; request: EmbedRequest } | { close: true }) => {
  if ('close' in message) return close()
  const asked = { id: message.id, ...message.request }
  if (asked.kind === 'query') queries.push(asked)
  else await add(asked)
  await work()
})
