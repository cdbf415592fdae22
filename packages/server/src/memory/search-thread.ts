// The search thread: ranks what it is given, and on the embedded store finds it first. A search over many memories takes tens of
// milliseconds of computing, which the thread that carries the events does not have.
import { parentPort, workerData } from 'node:worker_threads'
import { openReader } from '../store/sqlite.ts'
import { makeFinder } from './find-sqlite.ts'
import type { Sought } from './memory-index.ts'
import { rank, type Candidate, type Meaning, type Ranked, type Words } from './rank.ts'

export interface ToRank {
  words: Words
  meaning: Meaning | null
  candidates: Candidate[]
  now: number
  limit: number
}

export type Question = { find: Sought } | { rank: ToRank }

const port = parentPort!
const { file } = workerData as { file: string | null }
const reader = file === null ? null : openReader(file)
let finder: ReturnType<typeof makeFinder> | undefined

async function answer(asked: Question): Promise<Ranked[]> {
  if ('rank' in asked) {
    const { words, meaning, candidates, now, limit } = asked.rank
    return rank(words, meaning, candidates, now).slice(0, limit)
  }
  return reader!.snapshot((db) => (finder ??= makeFinder(db)).find(asked.find))
}

// One after the other: a snapshot is one at a time.
let last: Promise<unknown> = Promise.resolve()
port.on('message', (message: { id: number; question: Question } | { close: true }) => {
  last = last.then(async () => {
    if ('close' in message) return port.close()
    const { id, question } = message
    try {
      port.postMessage({ id, answer: await answer(question) })
    } catch (error) {
      port.postMessage({ id, error: (error as Error).stack ?? String(error) })
    }
  })
})
