// The flows on tenants that are spread over partitions, and on a real cluster where CITUS_URL names the database of
// its coordinator: each run has a schema of its own there, and drops it.
import { randomBytes } from 'node:crypto'
import { describe } from 'node:test'
import pg from 'pg'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { distribute } from '../../src/store/distribute.ts'
import { openStore } from '../../src/store/open.ts'
import { SECRET, sharded, type Engine } from '../support/engines.ts'
import { SHARDED_URL } from '../support/shards.ts'
import { shardedFlows } from './sharded-flows.ts'

const CITUS_URL = process.env['CITUS_URL']

async function onCluster(sql: string): Promise<void> {
  const client = new pg.Client(CITUS_URL)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

const citus: Engine = {
  name: 'postgres',
  async fresh() {
    const schema = `test_${randomBytes(6).toString('hex')}`
    await onCluster(`create schema ${schema}`)
    const url = new URL(CITUS_URL!)
    url.searchParams.set('options', `-c search_path=${schema},public`)
    const env = { DATABASE_URL: url.href, SENSORIUM_SECRET: SECRET }
    const { store } = await openStore(readConfig(env), systemClock)
    await distribute(store, 8)
    await store.close()
    return { env, drop: () => onCluster(`drop schema ${schema} cascade`) }
  },
}

describe('on tenants that are spread over partitions', { skip: SHARDED_URL ? false : 'PostgreSQL is missing' }, () =>
  shardedFlows(sharded),
)

describe('on a cluster with Citus', { skip: CITUS_URL ? false : 'CITUS_URL names no cluster' }, () =>
  shardedFlows(citus),
)
