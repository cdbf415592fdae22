// The embedding thread. Queries go before the texts of memories, and a batch is short enough that a query never waits long.
import { readlinkSync } from 'node:fs'
import os from 'node:os'
import { parentPort } from 'node:worker_threads'
import { batchSize } from './batch.ts'
import type { Embedded } from './embedding.ts'
import { loadModel, type Model, type Windowed } from './model.ts'

export interface Question {
  kind: 'texts' | 'query'
  texts: readonly string[]
}

type Asked = { id: number } & Question
type Told = { id: number; answer: Embedded[][] } | { id: number; error: string }

/** After a query more are to be expected: for this long batches are a quarter. */
const ALERT_MS = 2_000
/** Events come first when the processors are busy. Threads that the runtime starts take the same rank. */
const NICE = 3

const port = parentPort!

try {
  // Linux ranks single threads. Elsewhere this thread stays equal to the others.
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
let lastQuery = -Infinity
let model: Promise<Model> | undefined

const ready = (): Promise<Model> => (model ??= loadModel())

function tell(told: Told): void {
  const buffers = 'answer' in told ? told.answer.flat().flatMap(({ vector, tokens }) => [vector.buffer, tokens.buffer] as ArrayBuffer[]) : []
  port.postMessage(told, buffers)
}

async function add(asked: Asked): Promise<void> {
  try {
    const { windows } = await ready()
    const job: Job = { id: asked.id, embedded: asked.texts.map(() => []), left: 0 }
    const added = asked.texts.flatMap((text, i) => windows(text).map((window, part): Piece => ({ job, text: i, part, window })))
    job.left = added.length
    // Neighbours of one length waste no padding.
    pieces = [...pieces, ...added].sort((a, b) => a.window.ids.length - b.window.ids.length)
  } catch (error) {
    tell({ id: asked.id, error: (error as Error).message })
  }
}

const nextBatch = (): Piece[] =>
  pieces.splice(0, batchSize(pieces.map(({ window }) => window.ids.length), performance.now() - lastQuery < ALERT_MS ? 0.25 : 1))

async function answerQueries(): Promise<void> {
  const asked = queries.splice(0, 8)
  lastQuery = performance.now()
  try {
    const { windows, run } = await ready()
    // One window: what a query says beyond its first 254 tokens adds nothing to what it asks.
    const embedded = await run(asked.map(({ texts }) => windows(texts[0]!)[0]!))
    asked.forEach(({ id }, i) => tell({ id, answer: [[embedded[i]!]] }))
  } catch (error) {
    for (const { id } of asked) tell({ id, error: (error as Error).message })
  }
}

async function work(): Promise<void> {
  if (busy) return
  busy = true
  while (queries.length > 0 || pieces.length > 0) {
    if (queries.length > 0) await answerQueries()
    else await embedBatch()
    // Lets messages in: a query that came meanwhile goes next.
    await new Promise(setImmediate)
  }
  busy = false
}

async function embedBatch(): Promise<void> {
  const batch = nextBatch()
  const jobs = new Set(batch.map(({ job }) => job))
  try {
    const { run } = await ready()
    const embedded = await run(batch.map(({ window }) => window))
    batch.forEach(({ job, text, part }, i) => {
      job.embedded[text]![part] = embedded[i]!
      job.left--
    })
    for (const job of jobs) if (job.left === 0) tell({ id: job.id, answer: job.embedded })
  } catch (error) {
    pieces = pieces.filter(({ job }) => !jobs.has(job))
    for (const { id } of jobs) tell({ id, error: (error as Error).message })
  }
}

async function close(): Promise<void> {
  queries.length = 0
  pieces = []
  await model?.catch(() => {})
  while (busy) await new Promise(setImmediate)
  port.close()
}

port.on('message', async (message: { id: number; question: Question } | { close: true }) => {
  if ('close' in message) return close()
  const asked = { id: message.id, ...message.question }
  if (asked.kind === 'query') queries.push(asked)
  else await add(asked)
  await work()
})
