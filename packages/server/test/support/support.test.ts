// Tests of the tools that the other tests use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { startPostgres } from './postgres-server.ts'

const skip = process.env.TEST_POSTGRES_URL ? false : 'PostgreSQL is missing'

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  // If the server crashes under an open connection, the error arrives here as well.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

test('the run has one PostgreSQL server for all tests', { skip }, async () => {
  assert.deepEqual(await query(process.env.TEST_POSTGRES_URL ?? '', 'select 1 as one'), [{ one: 1 }])
})

test('a PostgreSQL server of its own', { skip }, async (t) => {
  const server = await startPostgres()
  t.after(() => server.stop())

  await t.test('is set up for durability and many connections', async () => {
    const [settings] = await query(
      server.url,
      `select current_setting('fsync') as fsync,
      current_setting('max_connections') as connections, current_setting('shared_buffers') as buffers,
      current_setting('TimeZone') as zone, current_setting('server_encoding') as encoding,
      (select datcollate from pg_database where datname = current_database()) as locale`,
    )
    assert.deepEqual(settings, {
      fsync: 'on',
      connections: '300',
      buffers: '128MB',
      zone: 'UTC',
      encoding: 'UTF8',
      locale: 'C',
    })
  })

  await t.test('breaks connections on restart and keeps its address and data', async () => {
    await query(server.url, 'create table kept as select 42 as answer')
    const open = new pg.Client({ connectionString: server.url })
    const broken = new Promise((resolve) => {
      open.once('error', resolve)
    })
    await open.connect()
    await server.restart()
    await broken
    assert.deepEqual(await query(server.url, 'select answer from kept'), [{ answer: 42 }])
  })

  await t.test('is gone after stop', async () => {
    await server.stop()
    await assert.rejects(query(server.url, 'select 1'), { code: 'ECONNREFUSED' })
  })
})
