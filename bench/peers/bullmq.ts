import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { optional, RECIPIENTS, type StartPeer } from './peer.ts'

/** The part of BullMQ that is used. */
interface BullMq {
  Queue: new (
    name: string,
    options: object,
  ) => { add(name: string, data: object, options: object): Promise<unknown>; close(): Promise<void> }
  Worker: new (
    name: string,
    handle: (job: { data: { id: string } }) => Promise<void>,
    options: object,
  ) => {
    waitUntilReady(): Promise<unknown>
    on(event: 'error', heard: () => void): void
    close(force: boolean): Promise<void>
  }
}

/** Not the default port, which a server on this machine may use. */
const PORT = 20_000 + Math.floor(Math.random() * 12_000)

/** A queue for each recipient in a Redis that writes every command to disk before it responds. */
export const startBullMq: StartPeer = async () => {
  if (spawnSync('redis-server', ['--version']).error) return 'Redis is missing (Debian package redis-server)'
  const bull = await optional<BullMq>('bullmq')
  if (!bull) return 'npm install --no-save bullmq ioredis'
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-redis-'))
  const settings = ['--port', String(PORT), '--bind', '127.0.0.1', '--dir', folder, '--save', '']
  const server = spawn('redis-server', [...settings, '--appendonly', 'yes', '--appendfsync', 'always'], {
    stdio: 'ignore',
  })
  await sleep(1_000)
  const connection = { host: '127.0.0.1', port: PORT }
  const queues = Array.from({ length: RECIPIENTS }, (_, i) => new bull.Queue(`bench-${i}`, { connection }))
  const workers: { close(force: boolean): Promise<void> }[] = []
  return {
    name: 'BullMQ on Redis',
    durability: 'on disk (appendfsync always), each queue on its own',
    pid: () => server.pid!,
    publish: async (message) =>
      void (await Promise.all(
        queues.map((queue) => queue.add('x', message, { jobId: message.id, removeOnComplete: true })),
      )),
    async receive(recipient, heard) {
      const worker = new bull.Worker(`bench-${recipient}`, async ({ data }) => heard(data.id), {
        connection,
        concurrency: 100,
      })
      worker.on('error', () => {}) // its connection ends when it is stopped
      workers.push(worker)
      await worker.waitUntilReady()
    },
    async stop() {
      for (const worker of workers) await worker.close(true)
      for (const queue of queues) await queue.close()
      server.kill('SIGKILL')
      await once(server, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
