// The service under test: real processes on a store of their own, which a scenario breaks and mends.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startProcess, type RunningProcess } from '../packages/server/test/support/process.ts'
import { startDatabase, type Database } from './database.ts'
import { startFarEnds, type FarEnds } from './far-ends.ts'

export type EngineName = 'sqlite' | 'postgres'
export const ADMIN_KEY = 'ak_live_FaultsFaultsFaultsFaultsFaultsFa'
export const LEASE_S = 2
const STARTS = 5

export interface Site {
  engine: EngineName
  /** The nodes that are up. */
  urls(): string[]
  /** How many there should be. */
  nodes: number
  /** kill -9, and a new process in its place. */
  killNode(index: number): Promise<void>
  /** Null on SQLite. */
  database: Database | null
  farEnds: FarEnds
  stop(): Promise<void>
}

export interface SiteOptions {
  engine: EngineName
  /** Where the data lies; a temporary folder unless said otherwise. */
  folder?: string
  /** Whether PostgreSQL has a synchronous replica. */
  hasReplica?: boolean
  env?: Record<string, string>
}

async function storeOf({ engine, folder, hasReplica = false }: SiteOptions) {
  if (engine === 'sqlite') {
    const made = folder ?? mkdtempSync(path.join(os.tmpdir(), 'sensorium-faults-'))
    const drop = (): void => (folder === undefined ? rmSync(made, { recursive: true, force: true }) : undefined)
    return { env: { DATA_DIR: made }, database: null, drop: async () => drop() }
  }
  const database = await startDatabase(hasReplica)
  return { env: { DATABASE_URL: database.url }, database, drop: database.stop }
}

/** As whoever runs it would: a start that fails, for a database that is slow in this moment, is tried again. */
async function startNode(env: Record<string, string>): Promise<RunningProcess> {
  for (let tries = 1; ; tries++) {
    try {
      return await startProcess(env)
    } catch (error) {
      if (tries === STARTS) throw error
    }
  }
}

export async function startSite(options: SiteOptions): Promise<Site> {
  const farEnds = await startFarEnds()
  const store = await storeOf(options)
  const env = {
    SENSORIUM_SECRET: 'a-master-secret-for-the-faults',
    BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    VISIBILITY_TIMEOUT_S: String(LEASE_S),
    MAX_ATTEMPTS: '1000',
    RATE_LIMIT_AGENT: 'off',
    RATE_LIMIT_TENANT: 'off',
    PUSH_ALLOW_PRIVATE: 'on',
    PUSH_RETRY_S: '1',
    EMBEDDINGS: farEnds.url,
    EMBEDDINGS_MODEL: 'far-end',
    LOG_LEVEL: 'silent',
    ...store.env,
    ...options.env,
  }
  // Nodes share a database; a SQLite file has one.
  const nodes = options.engine === 'postgres' ? 2 : 1
  const running: (RunningProcess | null)[] = []
  async function stop(): Promise<void> {
    for (const node of running) node?.kill('SIGKILL')
    await Promise.all(running.map((node) => node?.ended))
    await store.drop()
    await farEnds.stop()
  }
  try {
    for (let i = 0; i < nodes; i++) running.push(await startNode(env))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    engine: options.engine,
    nodes,
    database: store.database,
    farEnds,
    urls: () => running.flatMap((node) => (node ? [node.url] : [])),
    async killNode(index) {
      const node = running[index]!
      running[index] = null
      node.kill('SIGKILL')
      await node.ended
      running[index] = await startNode(env)
    },
    stop,
  }
}
