// The service under test: real processes on a store of their own, which a scenario breaks and mends.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { layWire, type Wire } from '../packages/server/test/support/cut-wire.ts'
import { startPostgres, type PostgresServer } from '../packages/server/test/support/postgres-server.ts'
import { startProcess, type RunningProcess } from '../packages/server/test/support/process.ts'

export type EngineName = 'sqlite' | 'postgres'
export const ADMIN_KEY = 'ak_live_FaultsFaultsFaultsFaultsFaultsFa'
export const LEASE_S = 2

export interface Site {
  engine: EngineName
  /** The nodes that are up. */
  urls(): string[]
  /** How many there should be. */
  nodes: number
  /** kill -9, and a new process in its place. */
  killNode(index: number): Promise<void>
  /** The database server, and the wire between it and the nodes; null on SQLite. */
  database: { server: PostgresServer; wire: Wire } | null
  stop(): Promise<void>
}

export interface SiteOptions {
  engine: EngineName
  /** Where the data lies; a temporary folder unless said otherwise. */
  folder?: string
  env?: Record<string, string>
}

async function environment({ engine, folder, env }: SiteOptions) {
  const common = {
    SENSORIUM_SECRET: 'a-master-secret-for-the-faults',
    BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    VISIBILITY_TIMEOUT_S: String(LEASE_S),
    MAX_ATTEMPTS: '1000',
    RATE_LIMIT_AGENT: 'off',
    RATE_LIMIT_TENANT: 'off',
    PUSH_ALLOW_PRIVATE: 'on',
    LOG_LEVEL: 'silent',
    ...env,
  }
  if (engine === 'sqlite') {
    const made = folder ?? mkdtempSync(path.join(os.tmpdir(), 'sensorium-faults-'))
    const drop = (): void => (folder === undefined ? rmSync(made, { recursive: true, force: true }) : undefined)
    return { env: { ...common, DATA_DIR: made }, database: null, drop: async () => drop() }
  }
  const server = await startPostgres()
  const url = new URL(server.url)
  const wire = await layWire(Number(url.port))
  url.port = String(wire.port)
  return {
    env: { ...common, DATABASE_URL: url.href, WORKERS: '1' },
    database: { server, wire },
    async drop() {
      await wire.cut()
      await server.stop()
    },
  }
}

export async function startSite(options: SiteOptions): Promise<Site> {
  const { env, database, drop } = await environment(options)
  // Nodes share a database; a SQLite file has one.
  const nodes = options.engine === 'postgres' ? 2 : 1
  const running: (RunningProcess | null)[] = []
  try {
    for (let i = 0; i < nodes; i++) running.push(await startProcess(env))
  } catch (error) {
    for (const node of running) node?.kill('SIGKILL')
    await drop()
    throw error
  }
  return {
    engine: options.engine,
    nodes,
    database,
    urls: () => running.flatMap((node) => (node ? [node.url] : [])),
    async killNode(index) {
      const node = running[index]!
      running[index] = null
      node.kill('SIGKILL')
      await node.ended
      running[index] = await startProcess(env)
    },
    async stop() {
      for (const node of running) node?.kill('SIGKILL')
      await Promise.all(running.map((node) => node?.ended))
      await drop()
    },
  }
}
