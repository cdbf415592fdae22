// A worker thread that responds to requests: started with the first, kept until closed, started again if it dies.
import { once } from 'node:events'
import module from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

export interface Thread<Request, Response> {
  ask(request: Request): Promise<Response>
  close(): Promise<void>
}

/** A third of the default: objects of these threads are short-lived, and each megabyte is one more for the process. */
const YOUNG_MB = 12

type Told<Response> = { id: number; response: Response } | { id: number; error: string }

interface Waiting<Response> {
  resolve(response: Response): void
  reject(error: Error): void
}

/** `.ts` in a clone, `.js` in the installed package: a thread is named by its file, and no compiler renames that. */
const EXTENSION = path.extname(fileURLToPath(import.meta.url))

/** A thread that does not end by itself is terminated after this long. */
const PATIENCE_MS = 10_000

/**
 * The thread's file receives `{id, request}` and posts `{id, response}` or `{id, error}`, in any order. On `{close:
 * true}` it finishes its computation and closes its port: terminated from outside in the middle of native code, it
 * would take the process down with it.
 */
export function makeThread<Request, Response>(file: URL, name: string, data?: unknown): Thread<Request, Response> {
  const waiting = new Map<number, Waiting<Response>>()
  let worker: Worker | undefined
  let asked = 0
  let closed = false

  function fail(error: Error): void {
    worker = undefined
    const waiters = [...waiting.values()]
    waiting.clear()
    for (const { reject } of waiters) reject(error)
  }

  function start(): Worker {
    const cache = module.getCompileCacheDir()
    const started = new Worker(new URL('./thread-start.js', import.meta.url), {
      name,
      argv: [file.href.replace(/\.ts$/, EXTENSION), cache === undefined ? '' : path.dirname(cache)],
      workerData: data,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    started.on('message', (told: Told<Response>) => {
      const waiter = waiting.get(told.id)
      waiting.delete(told.id)
      // The thread keeps the process alive only while a request waits.
      if (waiting.size === 0) started.unref()
      if ('error' in told) waiter?.reject(new Error(told.error))
      else waiter?.resolve(told.response)
    })
    started.on('error', (error) => worker === started && fail(error as Error))
    started.on('exit', () => worker === started && fail(new Error(`the ${name} thread ended`)))
    return started
  }

  return {
    ask(request) {
      if (closed) return Promise.reject(new Error(`the ${name} thread is closed`))
      return new Promise((resolve, reject) => {
        const id = ++asked
        waiting.set(id, { resolve, reject })
        worker ??= start()
        worker.ref()
        worker.postMessage({ id, request })
      })
    },
    async close() {
      closed = true
      const ending = worker
      fail(new Error(`the ${name} thread is closed`))
      if (!ending) return
      const ended = once(ending, 'exit')
      ending.ref()
      ending.postMessage({ close: true })
      const impatient = setTimeout(() => void ending.terminate(), PATIENCE_MS)
      await ended
      clearTimeout(impatient)
    },
  }
}
