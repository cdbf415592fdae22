// The thread that copies the write-ahead log into the database. Passive: it waits for nobody and nobody waits for it.
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

const connection = new DatabaseSync(workerData as string)
const checkpoint = connection.prepare('pragma wal_checkpoint(passive)')

parentPort!.on('message', ({ id, close }: { id: number; close?: boolean }) => {
  if (close) {
    connection.close()
    parentPort!.close()
    return
  }
  try {
    const { log } = checkpoint.get() as { log: number }
    parentPort!.postMessage({ id, response: { log } })
  } catch (error) {
    parentPort!.postMessage({ id, error: (error as Error).message })
  }
})
