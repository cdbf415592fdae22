import { startPostgres } from '../support/postgres.ts'
import { optional, RECIPIENTS, type StartPeer } from './peer.ts'

/** The part of pg-boss that is used. */
interface Boss {
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string): Promise<void>
  publish(event: string, data: object): Promise<unknown>
  subscribe(event: string, queue: string): Promise<void>
  work(queue: string, options: object, handle: (jobs: { data: { id: string } }[]) => Promise<void>): Promise<unknown>
  on(event: 'error', heard: () => void): void
}

/** A queue for each recipient, subscribed to one event; the workers run in the measuring process. */
export const startPgBoss: StartPeer = async () => {
  const loaded = await optional<{ PgBoss?: new (url: string) => Boss; default?: new (url: string) => Boss }>('pg-boss')
  const PgBoss = loaded?.PgBoss ?? loaded?.default
  if (!PgBoss) return 'npm install --no-save pg-boss'
  const server = await startPostgres()
  const boss = new PgBoss(server.url)
  boss.on('error', () => {})
  await boss.start()
  for (let i = 0; i < RECIPIENTS; i++) {
    await boss.createQueue(`bench-${i}`)
    await boss.subscribe('bench', `bench-${i}`)
  }
  return {
    name: 'pg-boss',
    durability: 'on disk (PostgreSQL commit)',
    pid: () => process.pid,
    publish: async (message) => void (await boss.publish('bench', message)),
    async receive(recipient, heard) {
      // Half a second is the shortest interval that pg-boss accepts.
      await boss.work(`bench-${recipient}`, { batchSize: 100, pollingIntervalSeconds: 0.5 }, async (jobs) => {
        for (const { data } of jobs) heard(data.id)
      })
    },
    async stop() {
      await boss.stop({ graceful: false })
      await server.stop()
    },
  }
}
