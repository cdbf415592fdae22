// The search thread: finds and ranks, on connections of its own. A search over many memories takes tens of milliseconds
// of computing, which the thread that carries the events does not have.
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../kernel/clock.ts'
import { StoreUnavailable } from '../store/db.ts'
import type { Finder, Sought } from './memory-index.ts'
import type { Ranked } from './rank.ts'

/** The file of an embedded store, or the address of a server. */
export type Where = { file: string } | { url: string }
export type Question = Sought
/** `away`: the store cannot be reached, and why. */
export type Answer = { found: Ranked[] } | { away: string }

/** Searches at once on PostgreSQL: more would take the processors from the events. */
const CONNECTIONS = 2

async function open(where: Where): Promise<Finder & { close(): Promise<void> }> {
  if ('url' in where) {
    const [{ openPostgres }, { postgresFinder }] = await Promise.all([
      import('../store/postgres.ts'),
      import('./find-postgres.ts'),
    ])
    const store = openPostgres({ url: where.url, clock: systemClock, poolSize: CONNECTIONS })
    return { find: postgresFinder(store).find, close: store.close }
  }
  const [{ openReader }, { makeFinder }] = await Promise.all([import('../store/sqlite.ts'), import('./find-sqlite.ts')])
  const reader = openReader(where.file)
  let finder: Finder | undefined
  // One after the other: a snapshot is one at a time.
  let last: Promise<unknown> = Promise.resolve()
  return {
    find(sought) {
      const found = last.then(() => reader.snapshot((db) => (finder ??= makeFinder(db)).find(sought)))
      last = found.catch(() => {})
      return found
    },
    async close() {
      await last
      reader.close()
    },
  }
}

const port = parentPort!
const opened = open(workerData as Where)
const underWay = new Set<Promise<void>>()

async function answer(id: number, sought: Sought): Promise<void> {
  try {
    port.postMessage({ id, answer: { found: await (await opened).find(sought) } })
  } catch (error) {
    if (error instanceof StoreUnavailable) port.postMessage({ id, answer: { away: error.message } })
    else port.postMessage({ id, error: (error as Error).stack ?? String(error) })
  }
}

async function close(): Promise<void> {
  await Promise.all(underWay)
  await (await opened).close()
  port.close()
}

port.on('message', (message: { id: number; question: Question } | { close: true }) => {
  if ('close' in message) return void close()
  const answering = answer(message.id, message.question).finally(() => underWay.delete(answering))
  underWay.add(answering)
})
