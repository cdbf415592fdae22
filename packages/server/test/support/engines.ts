// Every test that touches a store runs on both engines: a fresh SQLite file, and a fresh database on a real PostgreSQL
// server.
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { describe } from 'node:test'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { databaseFile } from '../../src/store/data-directory.ts'

export interface Engine {
  name: 'sqlite' | 'postgres'
  /** Makes a new, empty store, with the environment that points a service at it. */
  fresh(): Promise<FreshStore>
  /** The same with the current schema: a copy of a store that the runner has migrated. */
  migrated?(): Promise<FreshStore>
}

export interface FreshStore {
  env: Record<string, string>
  drop(): Promise<void>
}

export const SECRET = 'a-master-secret-for-the-tests'

function sqliteFolder(): FreshStore {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sensorium-test-'))
  return {
    env: { DATA_DIR: folder, SENSORIUM_SECRET: SECRET },
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

const sqlite: Engine = {
  name: 'sqlite',
  fresh: async () => sqliteFolder(),
  async migrated() {
    const store = sqliteFolder()
    const migrated = process.env['TEST_SQLITE_MIGRATED']
    if (migrated) copyFileSync(migrated, databaseFile(store.env['DATA_DIR']!))
    return store
  },
}

export const POSTGRES_URL = process.env['TEST_POSTGRES_URL']

async function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(POSTGRES_URL)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Dropping a database writes a checkpoint; of several dropped in a row, all but the first write next to nothing. */
const DROPPED_TOGETHER = 40

async function makeDatabase(template: string, options = ''): Promise<FreshStore> {
  const name = `test_${randomBytes(6).toString('hex')}`
  // Without fsync the files are copied in a quarter of the CPU that writing each page to the log takes.
  await onServer((client) => client.query(`create database ${name} template ${template} strategy file_copy ${options}`))
  const url = new URL(POSTGRES_URL!)
  url.pathname = `/${name}`
  return {
    env: { DATABASE_URL: url.href, SENSORIUM_SECRET: SECRET },
    drop: () =>
      onServer(async (client) => {
        await client.query('insert into left_over values ($1)', [name])
        const { rows } = await client.query<{ name: string }>(
          'delete from left_over where (select count(*) from left_over) >= $1 returning name',
          [DROPPED_TOGETHER],
        )
        for (const row of rows) await client.query(`drop database if exists ${row.name} with (force)`)
      }),
  }
}

const postgres: Engine = {
  name: 'postgres',
  fresh: () => makeDatabase('template1'),
  migrated: () => makeDatabase(process.env['TEST_POSTGRES_MIGRATED'] ?? 'template1'),
}

/** PostgreSQL with an empty database that has these options, such as its locale, and these settings. */
export const unusualPostgres = (options: string, ...settings: string[]): Engine => ({
  name: 'postgres',
  async fresh() {
    const made = await makeDatabase('template0', options)
    const name = new URL(made.env['DATABASE_URL']!).pathname.slice(1)
    await onServer(async (client) => {
      for (const setting of settings) await client.query(`alter database ${name} set ${setting}`)
    })
    return made
  },
})

const SHARDED = process.env['TEST_POSTGRES_SHARDED']

/** PostgreSQL whose tenants are spread over partitions, as Citus spreads them over machines: see citus.ts. */
const sharded: Engine = {
  name: 'postgres',
  fresh: () => makeDatabase(SHARDED ? new URL(SHARDED).pathname.slice(1) : 'template1'),
}

/** Runs the suite once for each engine. The runner reports when PostgreSQL is left out. */
export function onBothEngines(suite: (engine: Engine) => void): void {
  describe('on sqlite', () => suite(sqlite))
  if (POSTGRES_URL) describe('on postgres', () => suite(postgres))
}

export { sqlite, postgres, sharded }
