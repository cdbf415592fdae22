// An embedding thread: loads the model with the first request, and works in the order of its queue (work-queue.ts).
import { readlinkSync } from 'node:fs'
import os from 'node:os'
import { parentPort } from 'node:worker_threads'
import { loadOnce } from '../../kernel/load-once.ts'
import { loadModel } from './model.ts'
import { makeWorkQueue, type EmbedRequest, type Told } from './work-queue.ts'

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

function tell(told: Told): void {
  const buffers =
    'response' in told
      ? told.response.flat().flatMap(({ vector, tokens }) => [vector.buffer, tokens.buffer] as ArrayBuffer[])
      : []
  port.postMessage(told, buffers)
}

const queue = loadOnce(async () => makeWorkQueue(await loadModel(), tell))

/** What waits for a load under way is added when it ends, and would be computed for seconds though nobody listens. */
async function close(): Promise<void> {
  await (await queue.settled())?.close()
  port.close()
}

port.on('message', async (message: { id: number; request: EmbedRequest } | { close: true }) => {
  if ('close' in message) return close()
  const { id, request } = message
  try {
    ;(await queue()).add({ id, ...request })
  } catch (error) {
    tell({ id, error: (error as Error).message })
  }
})
