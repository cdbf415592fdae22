// A thread in the place of the push thread, which ends in the middle of a push when the path of the URL says so.
import { parentPort } from 'node:worker_threads'

parentPort!.on('message', ({ id, request, close }: { id: number; request: { url: string }; close?: boolean }) => {
  if (close) parentPort!.close()
  else if (request.url.endsWith('/end')) process.exit()
  else if (!request.url.endsWith('/wait')) parentPort!.postMessage({ id, response: { status: 200 } })
})
