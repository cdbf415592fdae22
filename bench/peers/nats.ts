import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { optional, type StartPeer } from './peer.ts'

/** The part of nats that is used. */
interface Nats {
  connect(options: object): Promise<{
    jetstream(): {
      publish(subject: string, data: Uint8Array, options: object): Promise<unknown>
      consumers: { get(stream: string, consumer: string): Promise<{ consume(options: object): Promise<unknown> }> }
    }
    jetstreamManager(): Promise<{
      streams: { add(options: object): Promise<unknown> }
      consumers: { add(stream: string, options: object): Promise<unknown> }
    }>
    close(): Promise<void>
  }>
}
interface Heard {
  headers?: { get(name: string): string }
  seq: number
  string(): string
  ack(): void
}

/** Not the default port, which a server on this machine may use. */
const PORT = 20_000 + Math.floor(Math.random() * 12_000)

/** One stream on disk with a durable consumer for each recipient. By default the server syncs every two minutes. */
export const startNats: StartPeer = async () => {
  if (spawnSync('nats-server', ['--version']).error) return 'NATS is missing (Debian package nats-server)'
  const nats = await optional<Nats>('nats')
  if (!nats) return 'npm install --no-save nats'
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-nats-'))
  const server = spawn('nats-server', ['-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(PORT)], {
    stdio: 'ignore',
  })
  await sleep(1_000)
  const connection = await nats.connect({ servers: `127.0.0.1:${PORT}` })
  const manager = await connection.jetstreamManager()
  await manager.streams.add({ name: 'bench', subjects: ['bench'], storage: 'file' })
  const stream = connection.jetstream()
  return {
    name: 'NATS JetStream',
    durability: 'in the page cache, synced every 2 min',
    pid: () => server.pid!,
    publish: async ({ id, text }) => void (await stream.publish('bench', Buffer.from(`${id} ${text}`), { msgID: id })),
    async receive(recipient, heard) {
      await manager.consumers.add('bench', {
        durable_name: `r${recipient}`,
        ack_policy: 'explicit',
        deliver_policy: 'new',
      })
      const consumer = await stream.consumers.get('bench', `r${recipient}`)
      await consumer.consume({
        callback(message: Heard) {
          heard(message.string().split(' ', 1)[0]!)
          message.ack()
        },
      })
    },
    async stop() {
      await connection.close()
      server.kill('SIGKILL')
      await once(server, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
