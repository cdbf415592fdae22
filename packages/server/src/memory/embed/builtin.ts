// The built-in model behind its threads, which start when they are first needed: a service that embeds nothing does not
// pay for them.
//
// Two threads with a session of one thread each, and not one session of two: they never wait for each other, and embed
// 1,000 short texts a second where a session of two, with 32 texts at once, embeds 700. The second thread costs 40 MB
// and starts with the first flood.
import os from 'node:os'
import { makeThread, type Thread } from '../../kernel/thread.ts'
import type { EmbeddedWindow, Embedder } from './embedder.ts'
import type { EmbedRequest } from './work-queue.ts'

export const BUILTIN_MODEL = 'all-MiniLM-L6-v2-q8'

const MAX_THREADS = Math.min(2, os.availableParallelism())
/** With more texts waiting than this, another thread is worth its memory. */
const FLOOD = 48

interface Worker {
  thread: Thread<EmbedRequest, EmbeddedWindow[][]>
  waiting: number
  /** Whether it has answered a request, and so has loaded its model. */
  loaded: boolean
}

const idlest = (workers: readonly Worker[]): Worker | undefined => workers.toSorted((a, b) => a.waiting - b.waiting)[0]

export function builtinEmbedder(): Embedder {
  const workers: Worker[] = []
  // Since 1.29, the official builds of onnxruntime report to Microsoft unless this variable is set before they are
  // loaded. It is set here because native code does not see what a thread writes into its own environment.
  process.env['ORT_DISABLE_TELEMETRY'] = '1'

  function begin(): Worker {
    const worker = {
      thread: makeThread<EmbedRequest, EmbeddedWindow[][]>(new URL('./thread.ts', import.meta.url), 'embedding'),
      waiting: 0,
      loaded: false,
    }
    workers.push(worker)
    return worker
  }

  /** Returns the worker with the least to do, or in a flood a new one. */
  function forTexts(texts: number): Worker {
    const found = idlest(workers)
    return found && (found.waiting + texts <= FLOOD || workers.length >= MAX_THREADS) ? found : begin()
  }

  /** A query goes before all texts, and does not wait for a model to load while another worker has loaded its own. */
  const forQuery = (): Worker => idlest(workers.filter(({ loaded }) => loaded)) ?? workers[0] ?? begin()

  async function ask(worker: Worker, request: EmbedRequest): Promise<EmbeddedWindow[][]> {
    worker.waiting += request.texts.length
    try {
      const response = await worker.thread.ask(request)
      worker.loaded = true
      return response
    } finally {
      worker.waiting -= request.texts.length
    }
  }

  return {
    model: BUILTIN_MODEL,
    batch: 32,
    isInProcess: true,
    queries: MAX_THREADS,
    embed: (texts) => ask(forTexts(texts.length), { kind: 'texts', texts }),
    query: async (text) => (await ask(forQuery(), { kind: 'query', texts: [text] }))[0]![0]!,
    async close() {
      await Promise.all(workers.map(({ thread }) => thread.close()))
    },
  }
}
