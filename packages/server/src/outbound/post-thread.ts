// The push thread makes the https pushes of a node (post-by-scheme.ts).
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../kernel/clock.ts'
import type { PostRequest } from './post-by-scheme.ts'
import { makePublicPost } from './post.ts'

const port = parentPort!
const post = makePublicPost(systemClock, workerData as { allowPrivate: boolean })

port.on('message', (message: { id: number; request: PostRequest } | { close: true }) => {
  if ('close' in message) {
    post.close()
    return port.close()
  }
  const { id, request } = message
  const { url, headers, body, mailbox, askedAt } = request
  const waitedMs = Number(process.hrtime.bigint() - askedAt) / 1e6
  // Not awaited: the message and its text would be kept for as long as the exchange takes.
  void post(url, headers, body, mailbox, waitedMs).then((response) => port.postMessage({ id, response }))
})
