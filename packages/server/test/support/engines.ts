// Every test that touches a store runs on both engines: a fresh SQLite file, and a fresh database on a real PostgreSQL
// server.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { describe } from 'node:test'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'

export interface Engine {
  name: 'sqlite' | 'postgres'
  /** The environment that points a service at a new, empty store. */
  fresh(): Promise<{ env: Record<string, string>; drop(): Promise<void> }>
}

export const SECRET = 'a-master-secret-for-the-tests'

const sqlite: Engine = {
  name: 'sqlite',
  async fresh() {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-test-'))
    return {
      env: { DATA_DIR: folder, SENSORIUM_SECRET: SECRET },
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
}

export const POSTGRES_URL = process.env['TEST_POSTGRES_URL']

async function admin(sql: string): Promise<void> {
  const client = new pg.Client(POSTGRES_URL)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

const postgres: Engine = {
  name: 'postgres',
  async fresh() {
    const name = `test_${randomBytes(6).toString('hex')}`
    await admin(`create database ${name}`)
    const url = new URL(POSTGRES_URL!)
    url.pathname = `/${name}`
    return {
      env: { DATABASE_URL: url.href, SENSORIUM_SECRET: SECRET },
      drop: () => admin(`drop database if exists ${name} with (force)`),
    }
  },
}

/** Runs the suite once for each engine. The runner says by name when PostgreSQL is left out. */
export function onBothEngines(suite: (engine: Engine) => void): void {
  describe('on sqlite', () => suite(sqlite))
  if (POSTGRES_URL) describe('on postgres', () => suite(postgres))
}

export { sqlite, postgres }
