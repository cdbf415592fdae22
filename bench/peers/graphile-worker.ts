import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../support/postgres.ts'
import { optional, RECIPIENTS, type StartPeer } from './peer.ts'

/** The part of graphile-worker that is used. */
interface Graphile {
  Logger: new (scope: () => () => void) => object
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>
    withPgClient<T>(use: (client: { query(sql: string, values: unknown[]): Promise<T> }) => Promise<T>): Promise<T>
    release(): Promise<void>
  }>
  run(options: object): Promise<{ stop(): Promise<void> }>
}

/** A job for each recipient, added in one statement; the workers run in the measuring process. */
export const startGraphileWorker: StartPeer = async () => {
  const graphile = await optional<Graphile>('graphile-worker')
  if (!graphile) return 'npm install --no-save graphile-worker'
  const server = await startPostgres()
  const quiet = { connectionString: server.url, noHandleSignals: true, logger: new graphile.Logger(() => () => {}) }
  const utils = await graphile.makeWorkerUtils({ ...quiet, maxPoolSize: 16 })
  await utils.migrate()
  const sql = `select ${Array.from({ length: RECIPIENTS }, (_, i) => `graphile_worker.add_job('bench-${i}', $1::json)`).join()}`
  const runners: { stop(): Promise<void> }[] = []
  return {
    name: 'graphile-worker',
    durability: 'on disk (PostgreSQL commit)',
    pid: () => process.pid,
    publish: async (message) =>
      void (await utils.withPgClient((client) => client.query(sql, [JSON.stringify(message)]))),
    async receive(recipient, heard) {
      const taskList = { [`bench-${recipient}`]: async (job: { id: string }) => heard(job.id) }
      runners.push(await graphile.run({ ...quiet, concurrency: 20, pollInterval: 100, taskList }))
    },
    async stop() {
      for (const runner of runners) await runner.stop()
      await sleep(1_000) // jobs are marked as done in the background, even after the stop
      await utils.release()
      await server.stop()
    },
  }
}
