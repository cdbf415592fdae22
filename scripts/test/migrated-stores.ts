// Stores with the schema of this code, which tests copy: migrating an empty store takes 100 ms on SQLite and 600 ms on
// PostgreSQL, and a run needs hundreds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { readConfig } from '../../packages/server/src/config.ts'
import { systemClock } from '../../packages/server/src/kernel/clock.ts'
import { databaseFile } from '../../packages/server/src/store/data-directory.ts'
import { distribute } from '../../packages/server/src/store/distribute.ts'
import { migrate } from '../../packages/server/src/store/migrate.ts'
import { connect } from '../../packages/server/src/store/open.ts'
import { standInForCitus } from '../../packages/server/test/support/citus.ts'

const DATABASE = 'migrated'
const SHARDED = 'sharded'
const PLANNED = 'planned'

/** Sets the variables by which tests find the stores. Returns a function that removes the stores. */
export async function makeMigratedStores(postgresUrl: string | undefined): Promise<() => void> {
  if (postgresUrl !== undefined) {
    const client = new pg.Client(postgresUrl)
    await client.connect()
    // Names of databases that tests no longer need: see engines.ts.
    await client.query('create table left_over (name text not null)')
    await client.query(`create database ${DATABASE}`)
    await client.end()
    const url = new URL(postgresUrl)
    url.pathname = `/${DATABASE}`
    await migrateStore({ DATABASE_URL: url.href, SENSORIUM_SECRET: 'of-nothing-that-is-kept' })
    await makeSharded(postgresUrl)
    process.env.TEST_POSTGRES_MIGRATED = DATABASE
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'sensorium-migrated-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    await migrateStore({ DATA_DIR: folder })
  } catch (error) {
    remove()
    throw error
  }
  process.env.TEST_SQLITE_MIGRATED = databaseFile(folder)
  return remove
}

/** Creates the same schema with tenants spread over partitions, to plan statements on: see test/support/shards.ts. */
async function makeSharded(postgresUrl: string): Promise<void> {
  const client = new pg.Client(postgresUrl)
  await client.connect()
  await client.query(`create database ${SHARDED} template ${DATABASE}`)
  // Nothing writes to it: statements are planned there as on tables without statistics, see test/support/plans.ts.
  await client.query(`create database ${PLANNED} template ${DATABASE}`)
  await client.end()
  const url = new URL(postgresUrl)
  url.pathname = `/${SHARDED}`
  await standInForCitus(url.href)
  const store = await connect(
    readConfig({ DATABASE_URL: url.href, SENSORIUM_SECRET: 'of-nothing-that-is-kept' }),
    systemClock,
  )
  try {
    await distribute(store)
    // The statements that a test file has already checked in this run.
    await store.tx((tx) =>
      tx.run('create table looked_at (sharded boolean, statement text, primary key (sharded, statement))'),
    )
  } finally {
    await store.close()
  }
  process.env.TEST_POSTGRES_SHARDED = url.href
  url.pathname = `/${PLANNED}`
  process.env.TEST_POSTGRES_PLANNED = url.href
}

async function migrateStore(env: Record<string, string>): Promise<void> {
  const store = await connect(readConfig(env), systemClock)
  try {
    await migrate(store, systemClock.now())
  } finally {
    await store.close()
  }
}
